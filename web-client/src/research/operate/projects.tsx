// The projects, which an administrator can freeze (R67). Page thread.

import { shownName } from "../../ui/shown_name.ts";
import type { ProjectRow } from "../model/rows.ts";
import { visibleText } from "../model/visible_text.ts";
import type { ResearchStore } from "../research_store.ts";
import { StateChip } from "../state_chip.tsx";
import { Action, type Props, Stop } from "./parts.tsx";

/** How many researchers of a project the question names. */
const NAMED = 4;

/** Returns the names of the first researchers and the number of the others. */
export function researchersText(names: readonly string[], store: ResearchStore): string {
  const words = store.words.value.operate;
  const format = store.format.value;
  if (names.length === 0) {
    return words.nobody;
  }
  const others = names.length - NAMED;
  return format.list([
    ...names.slice(0, NAMED).map(shownName),
    ...(others > 0 ? [words.others(format.integer(others))] : []),
  ]);
}

function Project({ store, project }: Props & { readonly project: ProjectRow }) {
  const words = store.words.value.operate;
  const name = shownName(project.name);
  const who = researchersText(project.researchers, store);
  return (
    <li class="entry" data-project={project.id}>
      <div>
        <h3 class="with-chips">
          {name}
          <StateChip
            state={project.isFrozen ? "suspended" : "active"}
            label={project.isFrozen ? words.frozen : words.open}
          />
        </h3>
        <p class="quiet">{words.researchersOf(who)}</p>
        {project.reason === "" ? null : (
          <p class="quiet">{store.words.value.held.reason(visibleText(project.reason))}</p>
        )}
      </div>
      <div class="button-row">
        {project.isFrozen ? (
          <Action
            store={store}
            action="unfreeze"
            label={words.unfreeze}
            about={name}
            onClick={() =>
              void store.operate(
                (api) => api.unfreeze(project.id),
                (texts) => texts.operate.done.unfrozen(name),
              )
            }
          />
        ) : (
          <Stop
            store={store}
            action="freeze"
            label={words.freeze}
            about={name}
            title={words.ask.freeze.title(name)}
            onStop={(reason) =>
              void store.operate(
                (api) => api.freeze(project.id, reason),
                (texts) => texts.operate.done.frozen(name),
              )
            }
          >
            <p>{words.ask.freeze.text(name, who)}</p>
          </Stop>
        )}
      </div>
    </li>
  );
}

export function Projects({
  store,
  projects,
}: Props & { readonly projects: readonly ProjectRow[] }) {
  const words = store.words.value.operate;
  return (
    <section class="card stack">
      <h2 tabIndex={-1}>{words.projects}</h2>
      {projects.length === 0 ? (
        <p class="quiet">{words.noProjects}</p>
      ) : (
        <ul class="entries">
          {projects.map((project) => (
            <Project key={project.id} store={store} project={project} />
          ))}
        </ul>
      )}
    </section>
  );
}
