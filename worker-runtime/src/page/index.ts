// What the join page imports. Page thread.

export type * from "../page_contract/volunteer_state.ts";
export { createVolunteer, type VolunteerOptions } from "./volunteer.ts";
