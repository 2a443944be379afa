// The exports of this package for the join page. Page thread.

export { isBlobKept } from "../agent/files/blob_place.ts";
export { isFileKept } from "../base/http_cache.ts";
export type { TooMuchData } from "../governor/data_limits.ts";
export type { Cooling, PausingRule } from "../governor/governor.ts";
export type { Hours, Limits } from "../governor/limits.ts";
export type * from "../page_contract/volunteer_state.ts";
export { type Reports, reportsOf } from "./browser_sensors.ts";
export {
  type KnownDevice,
  type Memories,
  ProjectMemory,
  type RememberedProject,
} from "./project_memory.ts";
export { createVolunteer, type VolunteerOptions } from "./volunteer.ts";
