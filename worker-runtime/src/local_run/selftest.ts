// The exports for the self-test page. They are separate from index.ts, so that the join page stays small. Page thread.

export { capabilitiesOf } from "../agent/device/capabilities.ts";
export { hasRelaxedSimd, hasSimd } from "../base/simd.ts";
export { hasJspi, type ProbeScope, probe, sharesMemory } from "../page_contract/probe.ts";
export type { UnsupportedReason } from "../page_contract/volunteer_state.ts";
export { replaced } from "../platform/install.ts";
export { missingOf } from "../platform/required.ts";
export { createMemory as createArrayMemory } from "../python/arraycore/arraycore_module.ts";
export { checkPython, type PythonCheck } from "./python_check.ts";
export { checkThread } from "./thread_check.ts";
