// The Spanish texts of the self-test page. Page thread; pure data.

import type { SelfTestWords } from "./dictionary.ts";

const update = "Actualiza el navegador o prueba con otro.";

export const es: SelfTestWords = {
  tag: "es",
  pageTitle: "Autocomprobación – Hyperflock",
  heading: "Qué puede hacer este navegador",
  lead: "Cada línea es algo que esta página necesita o puede usar para calcular. Nada sale de este dispositivo si no lo envías.",
  verdict: {
    looking: "Comprobando …",
    good: "Este navegador puede participar.",
    bad: (reason) => `Este navegador no puede participar. ${reason}`,
  },
  device: (deviceClass, engine) => `Se ve como: ${deviceClass}, ${engine}`,
  columns: { check: "Qué se miró", state: "Resultado", detail: "Detalles", remedy: "Qué ayuda" },
  caption: "Lo que se encontró",
  states: {
    ok: "Bien",
    limited: "Limitado",
    missing: "Falta",
    failed: "Falló",
    skipped: "Aún no",
  },
  checks: {
    isolation: {
      title: "Página aislada",
      remedy:
        "Abre la página en el propio navegador, no dentro de una aplicación, con un enlace que empiece por https.",
    },
    basics: {
      title: "WebAssembly, sumas de comprobación, WebSocket, flujos",
      remedy: `${update} Algunos navegadores desactivan uno de ellos, como en el modo de aislamiento.`,
    },
    thread: {
      title: "Todo ello también en hilos",
      remedy: "Vuelve a cargar la página. Si falla otra vez, prueba con otro navegador.",
    },
    shared_memory: {
      title: "Memoria compartida entre hilos",
      remedy: "Existe en una página aislada. Sin ella basta WebAssembly con esperas (más abajo).",
    },
    wasm_simd: {
      title: "WebAssembly SIMD (necesario)",
      remedy: `${update} Sin él no funciona nada.`,
    },
    relaxed_simd: {
      title: "WebAssembly relaxed SIMD (opcional)",
      remedy: "No es necesario; sin él, los productos de matrices grandes son más lentos.",
    },
    jspi: {
      title: "WebAssembly con esperas (JSPI)",
      remedy: "Solo es necesario si los hilos no pueden compartir memoria.",
    },
    functions: {
      title: "Funciones nuevas de JavaScript",
      remedy: "No son necesarias: la página trae las suyas.",
    },
    webgpu: {
      title: "Procesador gráfico (WebGPU)",
      remedy:
        "No es necesario; sin él calcula el procesador. Actualiza el navegador y el controlador gráfico, y activa la aceleración gráfica.",
    },
    webgl2: {
      title: "WebGL 2 (opcional)",
      remedy: "No es necesario. Activa la aceleración gráfica.",
    },
    memory: {
      title: "Memoria y núcleos",
      remedy:
        "Cierra otras pestañas y aplicaciones. Si el navegador no lo dice, se usa un valor prudente.",
    },
    array_memory: {
      title: "Memoria para matrices compartidas",
      remedy: "Cierra otras pestañas y aplicaciones, y vuelve a cargar esta página.",
    },
    storage: {
      title: "Almacenamiento",
      remedy:
        "Libera espacio o sal de la ventana privada: si no, cada visita lo descarga todo de nuevo.",
    },
    wake_lock: {
      title: "Mantener la pantalla encendida",
      remedy:
        "Carga el dispositivo o desactiva el ahorro de energía; si no, mantén la pantalla encendida tú.",
    },
    web_locks: {
      title: "Una sola pestaña a la vez",
      remedy: `${update} Hasta entonces, abre la página de participación en una sola pestaña.`,
    },
    clock: { title: "Reloj", remedy: "No es necesario; los tiempos se muestran menos finos." },
    numpy: {
      title: "Python con NumPy",
      remedy:
        "Vuelve a cargar la página. Si falla otra vez, envía el informe a quien te dio el enlace.",
    },
  },
  python: {
    heading: "Calcular algo",
    text: "Inicia Python como lo haría una prueba y comprueba un resultado de NumPy. La primera vez se descargan unos 8 MB.",
    button: "Ejecutar Python",
    again: "Ejecutar Python otra vez",
    runs: "Python se inicia y calcula …",
    bytes: (loaded, total) => `${loaded} de ${total}`,
    done: "Hecho. El resultado está en la tabla.",
  },
  send: {
    heading: "Enviarlo a quien administra el servidor",
    text: "Envía la tabla de arriba y el tipo de dispositivo, nada más.",
    withoutCode:
      "Para enviarlo, abre antes el enlace de participación y vuelve aquí desde su página.",
    button: "Enviar este informe",
    sending: "Enviando …",
    sent: (number) => `Enviado como informe ${number}. Gracias.`,
    refused: (code) => `No se pudo enviar. Reinténtalo en un minuto. Código: ${code}`,
  },
  join: "Ir a la página de participación",
};
