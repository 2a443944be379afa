// How much of the graphics processor's time a volunteer lends: a choice of three, kept by this browser. Pure; page thread.

import type { KeyValueStore } from "../i18n/language.ts";

export const gpuShares = [1, 0.5, 0.25] as const;
export type GpuShare = (typeof gpuShares)[number];

const STORAGE_KEY = "hyperflock.gpu-share";

export function isGpuShare(value: number): value is GpuShare {
  return (gpuShares as readonly number[]).includes(value);
}

/** Returns the stored choice, or all of the time if there is none or storage is forbidden. */
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
    // Storage is forbidden. The choice lasts as long as the page.
  }
}
