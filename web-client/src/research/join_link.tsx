// Shows the link that makes a phone a volunteer, for copying and for scanning. Page thread.

import { CopyLink } from "../ui/copy_link.tsx";
import { qrOf } from "../ui/qr.ts";
import type { ResearchStore } from "./research_store.ts";

function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, path } = qrOf(text);
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path class="qr-ground" d={`M0 0h${size}v${size}H0z`} />
      <path class="qr-ink" d={path} />
    </svg>
  );
}

export function JoinLink({ store }: { readonly store: ResearchStore }) {
  const words = store.words.value.join;
  const format = store.format.value;
  const workers = store.workers.value;
  const computing = workers.filter(({ trial }) => trial !== null).length;
  const link = store.joinLink.value;
  return (
    <section class="card stack volunteers">
      <h2>{words.heading}</h2>
      <p class="quiet">
        {words.connected(format.integer(workers.length))}
        {workers.length === 0 ? null : ` · ${words.computing(format.integer(computing))}`}
      </p>
      <p class="small">{words.text}</p>
      {link === null ? null : (
        <>
          <QrCode text={link} label={words.qr} />
          <CopyLink
            key={link}
            link={link}
            weight="button-main"
            words={{
              copyLink: words.copy,
              copied: words.copied,
              copyByHand: words.copyByHand,
              linkLabel: words.link,
            }}
          />
        </>
      )}
      <button
        type="button"
        class={`button button-small ${link === null ? "button-main" : "button-quiet"}`}
        data-action="make_link"
        aria-disabled={store.busy.value}
        onClick={() => void store.makeJoinLink()}
      >
        {words.make}
      </button>
    </section>
  );
}
