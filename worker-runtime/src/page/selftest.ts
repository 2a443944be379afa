// What the self-test page imports; apart from index.ts, so that the join page stays small. Page thread.

export { capabilitiesOf } from "../agent/capabilities.ts";
export { createMemory as createArrayMemory } from "../python/arraycore_module.ts";
export { hasRelaxedSimd, hasSimd } from "../simd.ts";
export { hasJspi, type ProbeScope, probe, sharesMemory } from "./probe.ts";
export { checkPython, type PythonCheck } from "./python_check.ts";
