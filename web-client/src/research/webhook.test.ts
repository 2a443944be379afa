import { describe, expect, it } from "vitest";
import { researchStories } from "../stories/research_states.ts";
import { studyOf } from "./model/rows.ts";
import { problemOfDelivery } from "./view_model.ts";
import { researchWords } from "./words/index.ts";

const [STUDY] = researchStories.study_webhook?.rows.studies ?? [];
const { webhook: _, ...ROW } = STUDY as Record<string, unknown>;

function withLast(change: Record<string, unknown>) {
  const last = { event: "stopped", at: 5, state: "failed", attempts: 16, ...change };
  const row = studyOf({ ...ROW, webhook: { host: "h.example", events: ["stopped"], last } });
  const found = row.webhook?.last;
  if (found === undefined || found === null) {
    throw new Error("the row has no delivery");
  }
  return found;
}

describe("the webhook of a study", () => {
  it("is null where the row has none", () => {
    expect(studyOf(ROW).webhook).toBeNull();
  });

  it("has no delivery before the first event", () => {
    const row = studyOf({ ...ROW, webhook: { host: "h.example:8443", events: ["finished"] } });
    expect(row.webhook).toEqual({ host: "h.example:8443", last: null });
  });

  it("has what became of the newest event", () => {
    const last = withLast({ state: "waiting", next_at: 9, status: 503, code: "c", message: "m" });
    expect(last).toEqual({
      ...{ event: "stopped", at: 5, state: "waiting", attempts: 16 },
      ...{ nextAt: 9, status: 503, code: "c", message: "m" },
    });
  });

  it.each([[{ state: "odd" }], [{ event: "odd" }], [{ at: "5" }], [{ attempts: undefined }]])(
    "is refused with %j",
    (change) => {
      expect(() => withLast(change)).toThrow();
    },
  );

  it("says in each language why a delivery failed", () => {
    for (const words of Object.values(researchWords)) {
      const { problems } = words.study.webhook;
      const refused = withLast({ code: "webhook_refused", message: "English" });
      expect(problemOfDelivery(refused, problems)).toBe(problems.webhook_refused);
      const other = withLast({ code: "of_a_newer_server", message: "Its\u202e sentence" });
      expect(problemOfDelivery(other, problems)).toBe("Its\ufffd sentence");
      expect(problemOfDelivery(withLast({ state: "delivered" }), problems)).toBeNull();
    }
  });
});
