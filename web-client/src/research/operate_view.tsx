// What administrators of the server stop, limit and approve (R67, R68). Page thread.

import type { ComponentChildren } from "preact";
import { shownName } from "../ui/shown_name.ts";
import { ceilingOf } from "./model/ceiling_form.ts";
import { hashOf } from "./model/route.ts";
import type { CeilingRow, ProjectRow, StudyRow } from "./model/rows.ts";
import { visibleText } from "./model/visible_text.ts";
import { Pairs } from "./pairs.tsx";
import type { Operated, ResearchStore } from "./research_store.ts";
import { StateChip } from "./state_chip.tsx";

interface Props {
  readonly store: ResearchStore;
}

interface ActionProps extends Props {
  readonly action: string;
  readonly label: string;
  readonly about: string;
}

/** A button whose label, for a screen reader, also says what it is about. */
function Action({
  store,
  action,
  label,
  about,
  onClick,
}: ActionProps & { readonly onClick: () => void }) {
  return (
    <button
      type="button"
      class="button button-quiet button-small"
      data-action={action}
      aria-label={`${label}: ${about}`}
      aria-disabled={store.busy.value}
      onClick={onClick}
    >
      {label}
    </button>
  );
}

interface ReasonProps extends ActionProps {
  readonly id: string;
  readonly children?: ComponentChildren;
  readonly onReason: (reason: string, form: FormData) => void;
}

/** A form with a reason, which the researchers read. */
function WithReason({ store, id, action, label, about, children, onReason }: ReasonProps) {
  const words = store.words.value.operate;
  return (
    <form
      class="stack"
      aria-label={`${label}: ${about}`}
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        onReason(String(form.get("reason") ?? "").trim(), form);
      }}
    >
      {children}
      <div>
        <label class="field-label" for={`${id}-reason`}>
          {words.reason}
        </label>
        <input
          id={`${id}-reason`}
          name="reason"
          class="field"
          maxLength={500}
          autocomplete="off"
          aria-describedby={`${id}-hint`}
        />
        <p class="field-hint" id={`${id}-hint`}>
          {words.reasonHint}
        </p>
      </div>
      <div class="button-row">
        <button
          type="submit"
          class="button button-quiet button-small"
          data-action={action}
          aria-disabled={store.busy.value}
        >
          {label}
        </button>
      </div>
    </form>
  );
}

function Awaiting({ store, study }: Props & { readonly study: StudyRow }) {
  const words = store.words.value.operate;
  const format = store.format.value;
  return (
    <li class="stack" data-awaiting={study.study}>
      <h3>
        <a class="text-link" href={hashOf({ page: "study", study: study.study })}>
          {shownName(study.name)}
        </a>
      </h3>
      <p class="quiet">
        {words.byIn(shownName(study.owner), shownName(study.project), format.integer(study.total))}
      </p>
      <div class="button-row">
        <Action
          store={store}
          action="approve"
          label={words.approve}
          about={shownName(study.name)}
          onClick={() => void store.operate((api) => api.approve(study.study))}
        />
      </div>
      <WithReason
        store={store}
        id={`refuse-${study.study}`}
        action="refuse"
        label={words.refuse}
        about={shownName(study.name)}
        onReason={(reason) => void store.operate((api) => api.refuse(study.study, reason))}
      />
    </li>
  );
}

function Project({ store, project }: Props & { readonly project: ProjectRow }) {
  const words = store.words.value.operate;
  return (
    <li class="stack" data-project={project.id}>
      <div class="title-row">
        <h3>{shownName(project.name)}</h3>
        <StateChip
          state={project.isFrozen ? "cancelled" : "running"}
          label={project.isFrozen ? words.frozen : words.open}
        />
      </div>
      {project.reason === "" ? null : <p class="quiet">{visibleText(project.reason)}</p>}
      {project.isFrozen ? (
        <div class="button-row">
          <Action
            store={store}
            action="unfreeze"
            label={words.unfreeze}
            about={shownName(project.name)}
            onClick={() => void store.operate((api) => api.unfreeze(project.id))}
          />
        </div>
      ) : (
        <WithReason
          store={store}
          id={`freeze-${project.id}`}
          action="freeze"
          label={words.freeze}
          about={shownName(project.name)}
          onReason={(reason) => void store.operate((api) => api.freeze(project.id, reason))}
        />
      )}
    </li>
  );
}

function Barred({ store, operated }: Props & { readonly operated: Operated }) {
  const words = store.words.value.operate;
  return (
    <section class="card stack">
      <h2>{words.barred}</h2>
      {operated.barred.length === 0 ? <p class="quiet">{words.noneBarred}</p> : null}
      <ul class="stack">
        {operated.barred.map(({ sha256, reason }) => (
          <li key={sha256} class="stack" data-barred={sha256}>
            <code class="breaks">{sha256}</code>
            {reason === "" ? null : <p class="quiet">{visibleText(reason)}</p>}
            <div class="button-row">
              <Action
                store={store}
                action="lift"
                label={words.lift}
                about={sha256}
                onClick={() => void store.operate((api) => api.lift(sha256))}
              />
            </div>
          </li>
        ))}
      </ul>
      <WithReason
        store={store}
        id="bar"
        action="bar"
        label={words.bar}
        about={words.barred}
        onReason={(reason, form) =>
          void store.operate((api) => api.bar(String(form.get("sha256")).trim(), reason))
        }
      >
        <div>
          <label class="field-label" for="sha256">
            {words.sha256}
          </label>
          <input
            id="sha256"
            name="sha256"
            class="field"
            required
            pattern="\s*[0-9a-f]{64}\s*"
            autocomplete="off"
            spellcheck={false}
            aria-describedby="sha256-hint"
          />
          <p class="field-hint" id="sha256-hint">
            {words.sha256Hint}
          </p>
        </div>
      </WithReason>
    </section>
  );
}

function Ceiling({ store, ceiling }: Props & { readonly ceiling: CeilingRow }) {
  const words = store.words.value.operate;
  const format = store.format.value;
  const { approval } = ceiling;
  const text = (value: number | null, factor: number) => {
    if (value === null) {
      return words.unset;
    }
    return value === 0 ? words.noLimit : format.value(value / factor);
  };
  const unset = approval ? words.approvals.yes : words.approvals.no;
  const scope = words.scopes[ceiling.scope];
  return (
    <li class="stack" data-ceiling={ceiling.scope}>
      <h3>{ceiling.name === undefined ? scope : `${scope}: ${shownName(ceiling.name)}`}</h3>
      <Pairs
        rows={[
          [words.minutes, text(ceiling.timeLimitMs, 60_000)],
          [words.devices, text(ceiling.devices, 1)],
          [words.megabytes, text(ceiling.dataBytes, 1_000_000)],
          [words.approval, approval === null ? words.unset : unset],
        ]}
      />
    </li>
  );
}

function NumberField({ name, label }: { readonly name: string; readonly label: string }) {
  return (
    <div>
      <label class="field-label" for={name}>
        {label}
      </label>
      <input id={name} name={name} class="field" type="number" min={0} step="any" />
    </div>
  );
}

function Ceilings({ store, operated }: Props & { readonly operated: Operated }) {
  const words = store.words.value.operate;
  return (
    <section class="card stack">
      <h2>{words.ceilings}</h2>
      <p class="quiet">{words.ceilingsNote}</p>
      <ul class="stack">
        {operated.ceilings.map((ceiling) => (
          <Ceiling key={`${ceiling.scope} ${ceiling.name}`} store={store} ceiling={ceiling} />
        ))}
      </ul>
      <form
        class="stack"
        aria-label={words.set}
        onSubmit={(event) => {
          event.preventDefault();
          const ceiling = ceilingOf(new FormData(event.currentTarget));
          void store.operate((api) => api.setCeiling(ceiling));
        }}
      >
        <div>
          <label class="field-label" for="scope">
            {words.scope}
          </label>
          <select id="scope" name="scope" class="field">
            {(["server", "project", "researcher"] as const).map((scope) => (
              <option key={scope} value={scope}>
                {words.scopes[scope]}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label class="field-label" for="name">
            {words.name}
          </label>
          <input
            id="name"
            name="name"
            class="field"
            autocomplete="off"
            aria-describedby="name-hint"
          />
          <p class="field-hint" id="name-hint">
            {words.nameHint}
          </p>
        </div>
        <NumberField name="minutes" label={words.minutes} />
        <NumberField name="devices" label={words.devices} />
        <NumberField name="megabytes" label={words.megabytes} />
        <div>
          <label class="field-label" for="approval">
            {words.approval}
          </label>
          <select id="approval" name="approval" class="field">
            <option value="">{words.approvals.unset}</option>
            <option value="yes">{words.approvals.yes}</option>
            <option value="no">{words.approvals.no}</option>
          </select>
        </div>
        <div class="button-row">
          <button
            type="submit"
            class="button button-quiet button-small"
            data-action="set_ceiling"
            aria-disabled={store.busy.value}
          >
            {words.set}
          </button>
        </div>
      </form>
    </section>
  );
}

export function OperateView({ store }: Props) {
  const words = store.words.value;
  const operated = store.operated.value;
  return (
    <div class="stack" data-view="operate">
      <nav>
        <a class="back" href={hashOf({ page: "studies" })}>
          {words.study.back}
        </a>
      </nav>
      <h1 tabIndex={-1}>{words.operate.heading}</h1>
      <p class="lead">{words.operate.lead}</p>
      {operated === null ? (
        <p class="quiet">{words.loading}</p>
      ) : (
        <>
          <section class="card stack">
            <h2>{words.operate.awaiting}</h2>
            {operated.awaiting.length === 0 ? (
              <p class="quiet">{words.operate.noneAwaiting}</p>
            ) : null}
            <ul class="stack">
              {operated.awaiting.map((study) => (
                <Awaiting key={study.study} store={store} study={study} />
              ))}
            </ul>
          </section>
          <section class="card stack">
            <h2>{words.operate.projects}</h2>
            <ul class="stack">
              {operated.projects.map((project) => (
                <Project key={project.id} store={store} project={project} />
              ))}
            </ul>
          </section>
          <Barred store={store} operated={operated} />
          <Ceilings store={store} operated={operated} />
        </>
      )}
    </div>
  );
}
