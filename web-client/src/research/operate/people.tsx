// The table of people: their state, what they use of their quotas, and what an administrator can change about them. On
// narrow screens each row is a card with its labels. Page thread.
//
// biome-ignore-all lint/a11y/noRedundantRoles: without their roles, rows that a style turns into cards lose their meaning.

import { useState } from "preact/hooks";
import { Icon } from "../../ui/icons.tsx";
import { shownName } from "../../ui/shown_name.ts";
import type { PersonChange, PersonRow } from "../model/rows.ts";
import { visibleText } from "../model/visible_text.ts";
import type { Done, Operated, ResearchStore } from "../research_store.ts";
import { StateChip } from "../state_chip.tsx";
import { Action, type Props, Stop } from "./parts.tsx";
import {
  afterPress,
  FIRST_VIEW,
  fractionOf,
  type PeopleColumn,
  type PeopleView,
  peopleColumns,
  peopleOf,
  personStates,
} from "./people_table.ts";
import { QuotaButton } from "./quota_button.tsx";

/** A server that does not know how much room is left reports at least so much. */
const UNKNOWN_ROOM = 2 ** 53 - 2 ** 32;

interface RowProps extends Props {
  readonly person: PersonRow;
}

/** Whether the row is that of the administrator who is signed in. */
function isMe(person: PersonRow, store: ResearchStore): boolean {
  const session = store.session.value;
  return session.kind === "in" && session.me.name === person.name;
}

function Name({ store, person }: RowProps) {
  const words = store.words.value.operate.people;
  const { projects, role, note } = person;
  return (
    <>
      <strong>{shownName(person.name)}</strong>
      {role === "admin" ? <p class="quiet">{words.admin}</p> : null}
      {projects.length === 0 ? null : (
        <p class="quiet">{words.inProjects(store.format.value.list(projects.map(shownName)))}</p>
      )}
      {note === "" ? null : <p class="quiet">{words.note(visibleText(note))}</p>}
    </>
  );
}

function State({ store, person }: RowProps) {
  const words = store.words.value;
  return (
    <>
      <StateChip state={person.state} label={words.operate.people.states[person.state]} />
      {person.reason === "" ? null : (
        <p class="quiet">{words.held.reason(visibleText(person.reason))}</p>
      )}
    </>
  );
}

interface UsedProps extends Props {
  readonly used: number;
  readonly limit: number;
  readonly write: (value: number) => string;
}

/** What is used of a limit, as a bar and in words. The words are enough; the bar helps to find who uses most. */
function Used({ store, used, limit, write }: UsedProps) {
  const words = store.words.value.operate.people;
  const fraction = fractionOf(used, limit);
  // A zero has no unit.
  const text = used === 0 ? store.format.value.integer(0) : write(used);
  return (
    <>
      {fraction === null ? words.usedOfAny(text) : words.usedOf(text, write(limit))}
      {fraction === null ? null : (
        <div class="meter" data-full={fraction >= 0.9} aria-hidden="true">
          <div style={{ width: `${Math.round(fraction * 100)}%` }} />
        </div>
      )}
    </>
  );
}

function Stored({ store, person }: RowProps) {
  const words = store.words.value.operate.people;
  const format = store.format.value;
  const write = (bytes: number) => format.size(bytes);
  const parts = (["data", "artifacts", "checkpoints"] as const)
    .filter((part) => person.stored[part] > 0)
    .map((part) => words.parts[part](write(person.stored[part])));
  return (
    <>
      <Used store={store} used={person.used.bytes} limit={person.quota.bytes} write={write} />
      {parts.length === 0 ? null : <p class="quiet">{format.list(parts)}</p>}
    </>
  );
}

function Actions({ store, person }: RowProps) {
  const words = store.words.value.operate;
  const { people, ask } = words;
  const name = shownName(person.name);
  const id = person.researcher;
  const studies = store.format.value.integer(person.used.studies);
  const change = (given: PersonChange, done: Done) =>
    void store.operate((api) => api.changePerson(id, given), done);
  return (
    <div class="button-row">
      {person.state === "active" ? null : (
        <Action
          store={store}
          action="let_in"
          label={person.state === "suspended" ? people.letBack : people.letIn}
          about={name}
          onClick={() => change({ state: "active" }, (texts) => texts.operate.done.active(name))}
        />
      )}
      {person.state === "active" && !isMe(person, store) ? (
        <Stop
          store={store}
          action="suspend"
          label={people.suspend}
          about={name}
          title={ask.suspend.title(name)}
          onStop={(reason) =>
            change({ state: "suspended", reason }, (texts) => texts.operate.done.suspended(name))
          }
        >
          <p>{ask.suspend.text(name, studies)}</p>
        </Stop>
      ) : null}
      {person.state === "pending" ? (
        <Stop
          store={store}
          action="turn_down"
          label={people.turnDown}
          about={name}
          title={ask.turnDown.title(name)}
          onStop={(reason) =>
            change({ state: "refused", reason }, (texts) => texts.operate.done.turnedDown(name))
          }
        >
          <p>{ask.turnDown.text(name)}</p>
        </Stop>
      ) : null}
      {person.role === "admin" ? null : (
        <QuotaButton
          store={store}
          person={person}
          onQuota={(quota) => change({ quota }, (texts) => texts.operate.done.quotaSet(name))}
        />
      )}
    </div>
  );
}

function Cell({ column, ...row }: RowProps & { readonly column: PeopleColumn }) {
  const { store, person } = row;
  const format = store.format.value;
  const integer = (value: number) => format.integer(value);
  const { used, quota, stored } = person;
  switch (column) {
    case "name":
      return <Name {...row} />;
    case "state":
      return <State {...row} />;
    case "studies":
      return <Used store={store} used={used.studies} limit={quota.studies} write={integer} />;
    case "trials":
      return <Used store={store} used={used.trials} limit={quota.trials} write={integer} />;
    case "stored":
      return <Stored {...row} />;
    case "records":
      return (
        <Used
          store={store}
          used={stored.records}
          limit={stored.most_records}
          write={(bytes) => format.size(bytes)}
        />
      );
    default:
      return column satisfies never;
  }
}

interface ViewProps extends Props {
  readonly view: PeopleView;
  readonly onView: (view: PeopleView) => void;
}

function Tools({ store, view, onView, count }: ViewProps & { readonly count: number }) {
  const words = store.words.value;
  const { people } = words.operate;
  return (
    <div class="table-tools">
      <label class="choose">
        <span>{people.find}</span>
        <input
          class="field"
          type="search"
          autocomplete="off"
          spellcheck={false}
          data-action="find"
          value={view.find}
          onInput={(event) => onView({ ...view, find: event.currentTarget.value })}
        />
      </label>
      <label class="choose">
        <span>{words.table.filter}</span>
        <select
          class="field"
          data-action="people_state"
          value={view.state}
          onChange={(event) =>
            onView({ ...view, state: event.currentTarget.value as PeopleView["state"] })
          }
        >
          <option value="all">{words.table.all}</option>
          {personStates.map((state) => (
            <option key={state} value={state}>
              {people.states[state]}
            </option>
          ))}
        </select>
      </label>
      <div class="sort-choice">
        <label class="choose">
          <span>{words.table.sortBy}</span>
          <select
            class="field"
            data-action="people_sort"
            value={view.column}
            onChange={(event) =>
              onView(afterPress(view, event.currentTarget.value as PeopleColumn))
            }
          >
            {peopleColumns.map((column) => (
              <option key={column} value={column}>
                {people.columns[column]}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          class="button button-quiet button-small"
          onClick={() => onView(afterPress(view, view.column))}
        >
          {view.descending ? words.table.descending : words.table.ascending}
        </button>
      </div>
      <p class="quiet" role="status" data-people={count}>
        {people.matching(store.format.value.integer(count))}
      </p>
    </div>
  );
}

function HeadCell({ store, view, onView, column }: ViewProps & { readonly column: PeopleColumn }) {
  const isSorted = view.column === column;
  return (
    <th
      scope="col"
      role="columnheader"
      aria-sort={isSorted ? (view.descending ? "descending" : "ascending") : undefined}
    >
      <button
        type="button"
        class="head-button"
        data-column={column}
        onClick={() => onView(afterPress(view, column))}
      >
        <span>{store.words.value.operate.people.columns[column]}</span>
        {isSorted ? <Icon name={view.descending ? "down" : "up"} /> : null}
      </button>
    </th>
  );
}

export function People({ store, operated }: Props & { readonly operated: Operated }) {
  const words = store.words.value.operate.people;
  const format = store.format.value;
  const [view, setView] = useState(FIRST_VIEW);
  const rows = peopleOf(operated.people, view);
  const { room } = operated;
  return (
    <section class="card stack">
      <h2 tabIndex={-1}>{words.heading}</h2>
      {room >= UNKNOWN_ROOM ? null : (
        <p class={room === 0 ? "notice" : "quiet"} data-room={room}>
          {room === 0 ? words.noRoom : words.room(format.size(room))}
        </p>
      )}
      <Tools store={store} view={view} onView={setView} count={rows.length} />
      {rows.length === 0 ? (
        <p class="quiet">{words.none}</p>
      ) : (
        // Wide tables scroll in their own frame, which the keyboard can reach.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take focus.
        <section class="table-frame" tabIndex={0} aria-label={words.heading}>
          <table class="table people" role="table">
            <caption class="unseen">{words.heading}</caption>
            <thead role="rowgroup">
              <tr role="row">
                {peopleColumns.map((column) => (
                  <HeadCell
                    key={column}
                    store={store}
                    view={view}
                    onView={setView}
                    column={column}
                  />
                ))}
                <th scope="col" role="columnheader">
                  {words.actions}
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {rows.map((person) => (
                <tr
                  role="row"
                  key={person.researcher}
                  data-person={person.researcher}
                  data-state={person.state}
                >
                  {peopleColumns.map((column) => (
                    <td
                      role="cell"
                      key={column}
                      data-label={words.columns[column]}
                      data-kind={column}
                    >
                      <Cell store={store} person={person} column={column} />
                    </td>
                  ))}
                  <td role="cell" data-label={words.actions} data-kind="actions">
                    <Actions store={store} person={person} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {operated.morePeople ? (
        <div class="button-row">
          <button
            type="button"
            class="button button-quiet button-small"
            data-action="more_people"
            aria-disabled={store.busy.value}
            onClick={() => void store.showMorePeople()}
          >
            {words.more}
          </button>
        </div>
      ) : null}
    </section>
  );
}
