// The part of Pyodide's interface that the python thread uses (Pyodide is fetched at run time, not bundled). Python thread.

export interface PyCallable {
  (...args: unknown[]): unknown;
  /** Calls the function so that Python can suspend until a promise is fulfilled (JSPI). */
  callPromising(...args: unknown[]): Promise<unknown>;
  destroy(): void;
}

export interface PyodideApi {
  readonly version: string;
  /** Sets the interrupt buffer. Pyodide reads and writes only its element 0. */
  setInterruptBuffer(buffer: { 0: number }): void;
  /** Throws KeyboardInterrupt if the interrupt buffer requests it. */
  checkInterrupt(): void;
  registerJsModule(name: string, module: object): void;
  unpackArchive(archive: Uint8Array, format: "zip", options: { readonly extractDir: string }): void;
  runPython(code: string): unknown;
  /** `write` gets bytes of Python's stream and returns how many of them it took. */
  setStdout(options: { readonly write: (bytes: Uint8Array) => number }): void;
  setStderr(options: { readonly write: (bytes: Uint8Array) => number }): void;
}

export interface PyodideOptions {
  readonly indexURL: string;
  readonly lockFileURL: string;
  readonly packageBaseUrl: string;
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
}

/** The exports of `pyodide.mjs`. */
export interface PyodideModule {
  loadPyodide(options: PyodideOptions): Promise<PyodideApi>;
}
