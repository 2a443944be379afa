// What the join page imports. Page thread.

export { createVolunteer, type VolunteerOptions } from "./volunteer.ts";
export type * from "./volunteer_state.ts";
