import { expect, test } from "vitest";
import { shownName } from "./shown_name.ts";

test("a name shows its hidden characters, and all others as they are", () => {
  expect(shownName("ab\u202ecd\u0007")).toBe("ab\\u{202E}cd\\u{0007}");
  expect(shownName("\u{E0041}")).toBe("\\u{E0041}");
  expect(shownName("山田　太郎 Łukasz O'Neill")).toBe("山田　太郎 Łukasz O'Neill");
});
