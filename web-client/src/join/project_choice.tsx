// Lets the volunteer choose between the link's projects, if there are several. Page thread.

import type { JoinStore } from "./join_store.ts";

export function ProjectChoice({ store }: { readonly store: JoinStore }) {
  const choices = store.choices.value;
  const { project: words, memory, projectProblems: problems } = store.words.value;
  const format = store.format.value;
  if (choices.length === 0) {
    return null;
  }
  return (
    <fieldset class="choices">
      <legend class="label">{store.isMemory ? memory.choose : words.choose}</legend>
      {choices.map(({ index, name, owner, project, problem, contribution, isChosen }) => (
        <label class="choice" key={index}>
          <input
            type="radio"
            name="project"
            value={index}
            checked={isChosen}
            onChange={() => store.choose(index)}
          />
          <span>
            <strong>{name}</strong>
            <span class="choice-detail">
              {words.runBy(owner)}
              {project === null
                ? null
                : ` · ${
                    project.trialsTotal === 0
                      ? words.studies(project.studies, format.integer(project.studies))
                      : words.progress(
                          format.integer(project.trialsDone),
                          format.integer(project.trialsTotal),
                        )
                  }`}
            </span>
            {problem === null ? null : <span class="choice-detail">{problems[problem].title}</span>}
            {contribution === null ? null : (
              <span class="choice-detail">
                {memory.given(contribution.trials, contribution.time)}
              </span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
