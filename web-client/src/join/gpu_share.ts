// The volunteer's share of the graphics processor's time: a choice of three, stored by this browser. Pure; page thread.

import type { KeyValueStore } from "../i18n/language.ts";

export const gpuShares = [1, 0.5, 0.25] as const;
export type GpuShare = (typeof gpuShares)[number];

const STORAGE_KEY = "hyperflock.gpu-share";

export function isGpuShare(value: number): value is GpuShare {
  return (gpuShares as readonly number[]).includes(value);
}

/** Returns the stored choice. Without one, or if storage is forbidden, it returns 1, which is all of the time. */
export function rememberedGpuShare(store: KeyValueStore): GpuShare {
  try {
    const value = Number(store.getItem(STORAGE_KEY));
    return isGpuShare(value) ? value : 1;
  } catch {
    return 1;
  }
}

export function rememberGpuShare(store: KeyValueStore, share: GpuShare): void {
  try {
    store.setItem(STORAGE_KEY, String(share));
  } catch {
    // Storage is forbidden, so the choice lasts only as long as the page.
  }
}
