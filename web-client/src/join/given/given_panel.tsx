// Shows what this browser's devices have given, as the server has counted it. Page thread.

import type { Dictionary } from "../../i18n/dictionary.ts";
import { CardButton } from "../card/card_button.tsx";
import type { GivenRow, GivenView } from "./given_view.ts";

interface RowsProps {
  readonly rows: readonly GivenRow[];
  readonly part: string;
}

function Rows({ rows, part }: RowsProps) {
  return (
    <tbody data-given={part}>
      {rows.map((row) => (
        <tr key={row.label}>
          <th scope="row">{row.label}</th>
          <td>{row.trials}</td>
          <td>{row.time}</td>
          <td>{row.improved}</td>
        </tr>
      ))}
    </tbody>
  );
}

interface Props {
  readonly view: GivenView | null;
  readonly words: Dictionary["given"];
}

export function GivenPanel({ view, words }: Props) {
  if (view === null) {
    return null;
  }
  return (
    <div class="given">
      <h2 class="label" id="given">
        {words.heading}
      </h2>
      <table aria-labelledby="given">
        <thead>
          <tr>
            <td />
            <th scope="col">{words.trials}</th>
            <th scope="col">{words.time}</th>
            <th scope="col">{words.improved}</th>
          </tr>
        </thead>
        <Rows rows={view.spans} part="spans" />
        {view.projects.length === 0 ? null : <Rows rows={view.projects} part="projects" />}
      </table>
      <p class="given-note">{words.note}</p>
      <CardButton view={view} words={words} />
    </div>
  );
}
