import { describe, expect, it } from "vitest";
import { en } from "../../i18n/en.ts";
import { Formatter } from "../../i18n/format.ts";
import type { Given } from "../given/given_api.ts";
import { givenView } from "../given/given_view.ts";
import { cardOf } from "./card.ts";

const span = (trials: number) => ({ trials, ms: trials * 3_600_000, improved: 1 });
const given = (name: string): Given => ({
  todaySince: 0,
  projects: [{ name, today: span(1), week: span(2), all: span(1_234) }],
});

function card(...devices: Given[]) {
  const view = givenView(devices, 0, en.given, new Formatter("en"));
  return view === null ? null : cardOf(view, en.given);
}

describe("the card", () => {
  it("has the numbers in all and the project, and nothing else", () => {
    expect(card(given("Digits\u202e"))).toEqual({
      heading: "Computing time lent to research",
      time: "1,234 hr",
      project: "for “Digits\\u{202E}”",
      numbers: [
        ["1,234", "Trials"],
        ["1", "Best yet"],
      ],
    });
  });

  it("counts the projects if there are several", () => {
    expect(card(given("Digits"), given("Waves"))?.project).toBe("for 2 projects");
  });

  it("is not offered until something was given", () => {
    expect(card()).toBeNull();
  });
});
