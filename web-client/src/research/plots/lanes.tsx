// Rows of a plot that have a name left of a drawing and a text right of it, such as bars and the lanes of devices. Page
// thread.

import type { ComponentChildren } from "preact";

interface Props {
  readonly name: string;
  readonly text: string;
  readonly children: ComponentChildren;
}

export function LaneRow({ name, text, children }: Props) {
  return (
    <li class="lane">
      <span class="plot-key-text lane-name" title={name}>
        {name}
      </span>
      {children}
      <span class="plot-key-text lane-text">{text}</span>
    </li>
  );
}
