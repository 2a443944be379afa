// Identifies a device in requests. A file of its own, because the join page needs no other request of the agent before
// Start. Pure; any thread.

import type { Device } from "../machine/events.ts";

/** Returns the Authorization header that identifies a device. */
export function authorizationOf({ device, secret }: Device): string {
  return `Device ${device}:${secret}`;
}
