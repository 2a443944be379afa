// Line icons of 24 by 24 units. They are drawn here, so that no icon is fetched. Page thread.

const PATHS = {
  download: "M12 4v10m0 0 4-4m-4 4-4-4M5 19h14",
  power: "M4.5 8.5h13v7h-13zM20 11v2M8 11v2m3-2v2",
  screen: "M8 3.5h8a1 1 0 0 1 1 1v15a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1v-15a1 1 0 0 1 1-1zM11 17.5h2",
  hand: "M8.5 4.5h7l4 4v7l-4 4h-7l-4-4v-7zM9.5 9.5v5h5v-5z",
  done: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM8.5 12.2l2.5 2.5 4.7-5",
  pause: "M12 3.5a8.5 8.5 0 1 1 0 17 8.5 8.5 0 0 1 0-17zM10 9v6m4-6v6",
  back: "M14.5 5.5 8 12l6.5 6.5",
  up: "M12 19V6m0 0-5 5m5-5 5 5",
  down: "M12 5v13m0 0-5-5m5 5 5-5",
  problem: "M12 4 3.5 19h17zM12 10v4.5m0 2.3v.2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A turning ring. The text that explains it stands next to it. */
export function Spinner() {
  return (
    <svg class="icon spinner" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <circle class="spinner-track" cx="12" cy="12" r="8.5" />
      <path d="M12 3.5a8.5 8.5 0 0 1 8.5 8.5" />
    </svg>
  );
}
