// The exports of this package for the join page. Page thread.

export type * from "../page_contract/volunteer_state.ts";
export {
  type KnownDevice,
  type Memories,
  ProjectMemory,
  type RememberedProject,
} from "./project_memory.ts";
export { createVolunteer, type VolunteerOptions } from "./volunteer.ts";
