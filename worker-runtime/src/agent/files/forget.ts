// Makes the server forget this device, and then deletes what this browser stored. Runs on the agent thread.

import type { Device } from "../machine/events.ts";
import { ApiError, eraseDevice } from "./api.ts";
import { forgetBytes } from "./blob_cache.ts";
import { CheckpointStore } from "./checkpoint_store.ts";
import { Store } from "./store.ts";

/** The parts of the agent thread that forget() needs. */
export interface Forgetful {
  device(): Promise<Device | null>;
  erase(device: Device): Promise<void>;
  forget(): Promise<void>;
}

/**
 * Returns true if the server and the browser have forgotten the device. Returns false, and changes nothing, if the
 * request to the server fails.
 */
export async function forget(keeper: Forgetful): Promise<boolean> {
  const device = await keeper.device();
  if (device !== null) {
    try {
      await keeper.erase(device);
    } catch (error) {
      // A server that does not know the device has nothing to forget.
      if (!(error instanceof ApiError) || error.code !== "unauthorized") return false;
    }
  }
  await keeper.forget();
  return true;
}

export async function forgetDevice(code: string): Promise<boolean> {
  const store = await Store.open(code);
  return await forget({
    device: () => store.device(),
    erase: eraseDevice,
    forget: async () => {
      await store.forgetDevice();
      await store.forgetBlobs();
      await (await CheckpointStore.open(code)).forgetAll();
      await forgetBytes();
    },
  });
}
