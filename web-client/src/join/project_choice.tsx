// Lets the volunteer choose between the link's projects, if there are several. Page thread.

import type { JoinStore } from "./join_store.ts";

export function ProjectChoice({ store }: { readonly store: JoinStore }) {
  const choices = store.choices.value;
  const words = store.words.value.project;
  const format = store.format.value;
  if (choices.length === 0) {
    return null;
  }
  return (
    <fieldset class="choices">
      <legend class="label">{words.choose}</legend>
      {choices.map(({ index, project, isChosen }) => (
        <label class="choice" key={index}>
          <input
            type="radio"
            name="project"
            value={index}
            checked={isChosen}
            onChange={() => store.choose(index)}
          />
          <span>
            <strong>{project.name}</strong>
            <span class="choice-detail">
              {words.runBy(project.owner)} ·{" "}
              {project.trialsTotal === 0
                ? words.studies(project.studies, format.integer(project.studies))
                : words.progress(
                    format.integer(project.trialsDone),
                    format.integer(project.trialsTotal),
                  )}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
