// A progress bar whose numbers are also given in words. Page thread.

interface Props {
  readonly label: string;
  /** The completed part, from 0 to 1; null while unknown. */
  readonly fraction: number | null;
  readonly text: string;
}

export function ProgressBar({ label, fraction, text }: Props) {
  const percent = fraction === null ? null : Math.round(fraction * 1000) / 10;
  return (
    <div class="progress">
      <div
        class={percent === null ? "progress-track is-unknown" : "progress-track"}
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent ?? undefined}
        aria-valuetext={text}
      >
        <div class="progress-fill" style={percent === null ? {} : { width: `${percent}%` }} />
      </div>
      <p class="progress-text">{text}</p>
    </div>
  );
}
