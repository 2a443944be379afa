// Tests how the report reaches the operator, and what the page shows if it does not.

import { describe, expect, it } from "vitest";
import type { Check } from "./finding.ts";
import { sendReport } from "./upload.ts";

const report = {
  class: "phone",
  engine: "chromium 150",
  checks: [{ name: "webgpu", state: "missing", detail: "navigator.gpu" } satisfies Check],
};
const answered = (answer: () => Response) => sendReport("hfe_code", report, async () => answer());

describe("a report", () => {
  it("is sent with the join link's code, and gets its number", async () => {
    const asked: [string, RequestInit][] = [];
    const sent = await sendReport("hfe_code", report, async (path, init) => {
      asked.push([path, init]);
      return Response.json({ report: 12 }, { status: 201 });
    });
    expect(sent).toEqual({ kind: "sent", number: 12 });
    expect(asked).toMatchObject([["/api/device-reports", { method: "POST", credentials: "omit" }]]);
    expect(JSON.parse(String(asked[0]?.[1].body))).toEqual({ code: "hfe_code", report });
  });

  it.each<[string, () => Response]>([
    ["rate_limited", () => Response.json({ error: { code: "rate_limited" } }, { status: 429 })],
    ["bad_answer", () => new Response("<h1>502</h1>", { status: 502 })],
    ["bad_answer", () => Response.json({ report: "12" }, { status: 201 })],
    ["bad_answer", () => Response.json(null, { status: 201 })],
    ["bad_answer", () => Response.json({ error: "no" }, { status: 403 })],
    [
      "unreachable",
      () => {
        throw new TypeError("Failed to fetch");
      },
    ],
  ])("that is not taken says why: %s", async (code, answer) => {
    expect(await answered(answer)).toEqual({ kind: "refused", code });
  });
});
