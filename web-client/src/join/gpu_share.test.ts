import { describe, expect, it } from "vitest";
import { rememberedGpuShare, rememberGpuShare } from "./gpu_share.ts";

function storeOf(value: string | null) {
  const store = {
    value,
    getItem: () => store.value,
    setItem: (_key: string, text: string) => {
      store.value = text;
    },
  };
  return store;
}

describe("the share of the graphics processor", () => {
  it("is all of it at first, and whatever was kept that is no choice", () => {
    for (const value of [null, "", "0", "2", "-1", "a half"]) {
      expect(rememberedGpuShare(storeOf(value))).toBe(1);
    }
  });

  it("is kept", () => {
    const store = storeOf(null);
    rememberGpuShare(store, 0.25);
    expect(rememberedGpuShare(store)).toBe(0.25);
  });

  it("is all of it where storage is forbidden", () => {
    const fail = () => {
      throw new Error("forbidden");
    };
    expect(rememberedGpuShare({ getItem: fail, setItem: fail })).toBe(1);
    rememberGpuShare({ getItem: fail, setItem: fail }, 0.5);
  });
});
