import { expect, test } from "vitest";
import { ApiError } from "./api.ts";
import { type Forgetful, forget } from "./forget.ts";

const device = { device: "d_1", secret: "hfd_1" };

function keeper(change: Partial<Forgetful> = {}): { calls: string[]; forgetful: Forgetful } {
  const calls: string[] = [];
  const forgetful: Forgetful = {
    device: async () => device,
    erase: async (asked) => void calls.push(`erase ${asked.device}`),
    forget: async () => void calls.push("forget"),
    ...change,
  };
  return { calls, forgetful };
}

test("The server is told first, then this browser forgets.", async () => {
  const { calls, forgetful } = keeper();
  expect(await forget(forgetful)).toBe(true);
  expect(calls).toEqual(["erase d_1", "forget"]);
});

test("A browser that never joined has nothing to tell the server.", async () => {
  const { calls, forgetful } = keeper({ device: async () => null });
  expect(await forget(forgetful)).toBe(true);
  expect(calls).toEqual(["forget"]);
});

test("A server that does not know the device has forgotten it.", async () => {
  const erase = () => Promise.reject(new ApiError("unauthorized", "Nobody.", true));
  const { calls, forgetful } = keeper({ erase });
  expect(await forget(forgetful)).toBe(true);
  expect(calls).toEqual(["forget"]);
});

test.each([
  ["unreachable", new ApiError("unreachable", "No.", false)],
  ["storage_unavailable", new ApiError("storage_unavailable", "Later.", false)],
  ["a fault", new TypeError("no fetch")],
])(
  "Where the server could not be told (%s), the identity is kept for the next try.",
  async (_, error) => {
    const { calls, forgetful } = keeper({ erase: () => Promise.reject(error) });
    expect(await forget(forgetful)).toBe(false);
    expect(calls).toEqual([]);
  },
);
