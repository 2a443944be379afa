// Makes the WebGL2 contexts of this thread fail, for tests. It changes OffscreenCanvas for the whole thread. Gpu thread of
// a browser; it does nothing in Node, which has no such canvas.

export class FaultyContexts {
  /** How many of the next requests for a context get null. */
  refused = 0;
  /** How many of the next fragment shaders do not compile. */
  broken = 0;
  /** Until this time (performance.now) no sync object of the newest context is signalled. */
  stalledUntil = 0;
  #newest: { readonly gl: WebGL2RenderingContext; readonly canvas: OffscreenCanvas } | undefined;

  constructor() {
    if (typeof OffscreenCanvas !== "function") return;
    const faults = this;
    const getContext = OffscreenCanvas.prototype.getContext as (
      this: OffscreenCanvas,
      ...given: unknown[]
    ) => WebGL2RenderingContext | null;
    Reflect.set(
      OffscreenCanvas.prototype,
      "getContext",
      function (this: OffscreenCanvas, ...given: unknown[]) {
        if (faults.refused > 0) {
          faults.refused -= 1;
          return null;
        }
        const gl = getContext.apply(this, given);
        return gl === null ? null : faults.#prepare(gl, this);
      },
    );
  }

  /** Loses the newest context, as a driver that starts again does. Resolves when the context has told it. */
  async lose(): Promise<void> {
    const newest = this.#newest;
    if (newest === undefined || newest.gl.isContextLost()) return;
    const lost = new Promise((resolve) =>
      newest.canvas.addEventListener("webglcontextlost", resolve, { once: true }),
    );
    newest.gl.getExtension("WEBGL_lose_context")?.loseContext();
    await lost;
  }

  #prepare(gl: WebGL2RenderingContext, canvas: OffscreenCanvas): WebGL2RenderingContext {
    // The stall stands for work of the old context. It does not delay the new one.
    if (this.#newest !== undefined) this.stalledUntil = 0;
    this.#newest = { gl, canvas };
    const shaderSource = gl.shaderSource.bind(gl);
    gl.shaderSource = (shader, text) => {
      const isBroken = this.broken > 0 && text.includes("layout(location = 0) out");
      if (isBroken) this.broken -= 1;
      shaderSource(shader, isBroken ? `${text}\nthis is no GLSL` : text);
    };
    const getSyncParameter = gl.getSyncParameter.bind(gl);
    gl.getSyncParameter = (sync, name) =>
      performance.now() < this.stalledUntil ? gl.UNSIGNALED : getSyncParameter(sync, name);
    return gl;
  }
}
