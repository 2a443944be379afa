// Whether this browser may compute while its page is hidden. Page thread.

import { classOf, type NavigatorFacts } from "../agent/device/capabilities.ts";

/**
 * Computers let a hidden page work if it holds a Web Lock, as the computing tab does. Phones and tablets freeze or end it,
 * and their owners expect no work of an app that they do not see. Whether the browser really lets it work is measured
 * (agent/clock_watch.ts).
 */
export function mayComputeHidden(browser: Partial<NavigatorFacts> & { locks?: unknown }): boolean {
  const { userAgent, locks } = browser;
  if (userAgent === undefined || locks === undefined) return false;
  return classOf({ ...browser, userAgent }) === "desktop";
}
