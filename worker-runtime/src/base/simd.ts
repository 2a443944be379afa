// Finds out which vector instructions of WebAssembly an engine has, by asking the engine to validate small functions
// that use them. Pure; any thread.

/** The part of `WebAssembly` that this file uses. */
export interface Validator {
  validate(bytes: Uint8Array<ArrayBuffer>): boolean;
}

/** Whether the engine has SIMD, which Pyodide and array-core's module use. */
export function hasSimd(engine: Validator | undefined): boolean {
  // The instructions are i32.const 0, i8x16.splat and i8x16.popcnt.
  return engine?.validate(moduleOf([65, 0, 253, 15, 253, 98])) === true;
}

/** Whether the engine has the fused multiply-add of relaxed SIMD, which arraycore-relaxed.wasm uses. */
export function hasRelaxedSimd(engine: Validator | undefined): boolean {
  const vector = [65, 0, 253, 15]; // i32.const 0, i8x16.splat
  // f32x4.relaxed_madd
  return engine?.validate(moduleOf([...vector, ...vector, ...vector, 253, 133, 2])) === true;
}

/** Returns a module with one function that returns a v128. */
function moduleOf(instructions: readonly number[]): Uint8Array<ArrayBuffer> {
  const body = [0, ...instructions, 11];
  return Uint8Array.of(
    ...[0, 97, 115, 109, 1, 0, 0, 0], // header
    ...[1, 5, 1, 96, 0, 1, 123], // type: () -> v128
    ...[3, 2, 1, 0],
    ...[10, body.length + 2, 1, body.length, ...body],
  );
}
