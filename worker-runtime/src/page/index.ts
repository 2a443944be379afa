// The exports of this package for the join page. Page thread.

export type * from "../page_contract/volunteer_state.ts";
export { createVolunteer, type VolunteerOptions } from "./volunteer.ts";
