// The studies that wait for an administrator's approval (R68). Page thread.

import { shownName } from "../../ui/shown_name.ts";
import { studyHash } from "../model/route.ts";
import type { StudyRow } from "../model/rows.ts";
import { Action, type Props, Stop } from "./parts.tsx";

function Study({ store, study }: Props & { readonly study: StudyRow }) {
  const words = store.words.value.operate;
  const name = shownName(study.name);
  const owner = shownName(study.owner);
  const total = store.format.value.integer(study.total);
  return (
    <li class="entry" data-awaiting={study.study}>
      <div>
        <h3>
          <a class="text-link" href={studyHash(study.study)}>
            {name}
          </a>
        </h3>
        <p class="quiet">{words.byIn(owner, shownName(study.project), total)}</p>
      </div>
      <div class="button-row">
        <Action
          store={store}
          action="approve"
          label={words.approve}
          about={name}
          onClick={() =>
            void store.operate(
              (api) => api.approve(study.study),
              (texts) => texts.operate.done.approved(name),
            )
          }
        />
        <Stop
          store={store}
          action="refuse"
          label={words.refuse}
          about={name}
          title={words.ask.refuse.title(name)}
          onStop={(reason) =>
            void store.operate(
              (api) => api.refuse(study.study, reason),
              (texts) => texts.operate.done.refused(name),
            )
          }
        >
          <p>{words.ask.refuse.text(name, owner)}</p>
        </Stop>
      </div>
    </li>
  );
}

export function Awaiting({ store, studies }: Props & { readonly studies: readonly StudyRow[] }) {
  const words = store.words.value.operate;
  return (
    <section class="card stack">
      <h2 tabIndex={-1}>{words.awaiting}</h2>
      {studies.length === 0 ? (
        <p class="quiet">{words.noneAwaiting}</p>
      ) : (
        <ul class="entries">
          {studies.map((study) => (
            <Study key={study.study} store={store} study={study} />
          ))}
        </ul>
      )}
    </section>
  );
}
