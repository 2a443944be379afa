// What is wrong with the server itself, such as a backup that failed. Page thread.

import type { Props } from "./parts.tsx";

export function Warnings({ store, codes }: Props & { readonly codes: readonly string[] }) {
  const words = store.words.value.operate.warnings;
  if (codes.length === 0) {
    return null;
  }
  const texts: Readonly<Record<string, string>> = words.texts;
  return (
    <section class="card stack" role="status" data-warnings>
      <h2 tabIndex={-1}>{words.heading}</h2>
      <ul class="entries">
        {codes.map((code) => (
          <li class="entry" key={code}>
            <p>
              {texts[code] ?? words.other} <code>{code}</code>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
