// The page's route, in the URL's fragment: `#/`, `#/operate`, `#/studies/3`, `#/studies/3/front`, `#/studies/3/trials/7`.
// Page thread; pure.

/** The views of a study. The overview has the study's own address, and each other view its name after it. */
export const studyParts = [
  ...(["overview", "trials", "front", "parallel", "slice"] as const),
  ...(["importance", "contour", "rank", "edf", "timeline", "series"] as const),
] as const;
export type StudyPart = (typeof studyParts)[number];

export type Route =
  | { readonly page: "studies" }
  /** The page for administrators, who stop, limit and approve work there. */
  | { readonly page: "operate" }
  | { readonly page: "study"; readonly study: number; readonly part: StudyPart }
  | { readonly page: "trial"; readonly study: number; readonly trial: number };

const STUDY = /^#\/studies\/(\d{1,15})(?:\/([a-z]+))?$/;
const TRIAL = /^#\/studies\/(\d{1,15})\/trials\/(\d{1,15})$/;

/** Returns the route of a fragment. An unknown fragment means the list of studies. */
export function routeOf(hash: string): Route {
  const trial = TRIAL.exec(hash);
  if (trial !== null) {
    return { page: "trial", study: Number(trial[1]), trial: Number(trial[2]) };
  }
  if (hash === "#/operate") {
    return { page: "operate" };
  }
  const study = STUDY.exec(hash);
  const part = studyParts.find((one) => one === (study?.[2] ?? "overview"));
  return study === null || part === undefined
    ? { page: "studies" }
    : { page: "study", study: Number(study[1]), part };
}

/** Returns the address of a study's overview. */
export function studyHash(study: number): string {
  return hashOf({ page: "study", study, part: "overview" });
}

export function hashOf(route: Route): string {
  switch (route.page) {
    case "studies":
      return "#/";
    case "operate":
      return "#/operate";
    case "study": {
      const own = `#/studies/${route.study}`;
      return route.part === "overview" ? own : `${own}/${route.part}`;
    }
    case "trial":
      return `#/studies/${route.study}/trials/${route.trial}`;
    default:
      return route satisfies never;
  }
}

/** Returns the route's study; 0, which does not exist, if it has none. */
export function studyOfRoute(route: Route): number {
  return "study" in route ? route.study : 0;
}
