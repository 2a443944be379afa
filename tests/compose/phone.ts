// A phone in a network of its own: Chromium that trusts one authority more, opens a join link, and computes one trial.
//
//   node phone.ts JOIN_LINK ADDRESS [quic]    HOME has the certificates that Chromium trusts; ADDRESS is the host's
//
// Prints what it saw as JSON. With `quic`, a second visit uses HTTP/3 only.

import { chromium, type Page } from "playwright-core";
import { CHROMIUM_FLAGS, chromiumPath } from "../../worker-runtime/node/chromium.ts";
import { LIMIT_MS } from "../../worker-runtime/node/patience.ts";

interface Visit {
  readonly protocol: string;
  readonly isolated: boolean;
  readonly secure: boolean;
  readonly issuer: string;
}

const [joinLink = "", address = "", again = ""] = process.argv.slice(2);
const { hostname, origin } = new URL(joinLink);

async function open<T>(
  link: string,
  flags: readonly string[],
  use: (page: Page, visit: Visit) => Promise<T>,
): Promise<T> {
  const kept = CHROMIUM_FLAGS.filter(
    (flag) => flag !== "--disable-quic" && !flag.startsWith("--host-resolver-rules"),
  );
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    timeout: LIMIT_MS,
    args: [
      ...kept,
      // Only this name leads anywhere.
      `--host-resolver-rules=MAP ${hostname} ${address}, MAP * ~NOTFOUND`,
      ...flags,
    ],
  });
  try {
    const context = await browser.newContext({
      locale: "en-US",
      viewport: { width: 390, height: 844 },
    });
    context.setDefaultTimeout(LIMIT_MS);
    const page = await context.newPage();
    const response = await page.goto(link);
    const seen = await page.evaluate(() => ({
      protocol: (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming)
        .nextHopProtocol,
      isolated: crossOriginIsolated,
      secure: isSecureContext,
    }));
    const issuer = (await response?.securityDetails())?.issuer ?? "";
    return await use(page, { ...seen, issuer });
  } finally {
    await browser.close();
  }
}

const joined = await open(joinLink, ["--disable-quic"], async (page, visit) => {
  await page.locator('.panel[data-phase="idle"]').waitFor();
  await page.locator('[data-action="start"]').click();
  await page.waitForFunction(
    () => document.querySelector("[data-contribution=trials]")?.textContent === "1",
  );
  return visit;
});
const quic =
  again === "quic"
    ? await open(
        `${origin}/selftest`,
        [`--origin-to-force-quic-on=${hostname}:443`],
        async (_page, visit) => visit,
      )
    : undefined;
process.stdout.write(`${JSON.stringify({ joined, quic })}\n`);
