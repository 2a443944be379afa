// Lets the volunteer choose how much of the graphics processor trials may use, if this browser has one. Page thread.

import { gpuShares, isGpuShare } from "./gpu_share.ts";
import type { JoinStore } from "./join_store.ts";

export function GpuShareChoice({ store }: { readonly store: JoinStore }) {
  if (!store.hasGpu) {
    return null;
  }
  const words = store.words.value.gpuShare;
  return (
    <div class="gpu-share">
      <label for="gpu-share">{words.label}</label>
      <select
        id="gpu-share"
        data-action="gpu_share"
        aria-describedby="gpu-share-hint"
        onChange={(event) => {
          const share = Number(event.currentTarget.value);
          if (isGpuShare(share)) {
            store.setGpuShare(share);
          }
        }}
      >
        {gpuShares.map((share) => (
          <option key={share} value={share} selected={store.gpuShare.value === share}>
            {words.shares[share]}
          </option>
        ))}
      </select>
      <p id="gpu-share-hint">{words.hint}</p>
    </div>
  );
}
