// The flock: Hyperflock's logo, and the birds that fly behind the page's heading. Page thread.

const BACKDROP_BIRDS = 38;
const BACKDROP_WIDTH = 640;
const BACKDROP_HEIGHT = 128;

/** The path of one bird with its wings up, centred on 0,0 and 12 units wide. */
const BIRD = "M-6 1.5c2-3.4 4.4-3.4 6-.5 1.6-2.9 4-2.9 6 .5";

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect class="mark-ground" width="32" height="32" rx="9" />
      <g class="mark-birds">
        <path d="M14 10.5c2-3.4 4.4-3.4 6-.5 1.6-2.9 4-2.9 6 .5" />
        <path d="M6.5 16.8c1.7-2.8 3.7-2.8 5-.4 1.3-2.4 3.3-2.4 5 .4" />
        <path d="M15 23.3c1.5-2.4 3.2-2.4 4.3-.4 1.1-2 2.8-2 4.3.4" />
      </g>
    </svg>
  );
}

/**
 * Three birds that beat their wings while this device computes. They do not move if the reader has asked for reduced
 * motion.
 */
export function FlyingBirds() {
  return (
    <svg class="flying" viewBox="0 0 32 24" aria-hidden="true" focusable="false">
      <g transform="translate(22 7)">
        <path d={BIRD} />
      </g>
      <g transform="translate(9 11) scale(.86)">
        <path d={BIRD} />
      </g>
      <g transform="translate(20 18.5) scale(.72)">
        <path d={BIRD} />
      </g>
    </svg>
  );
}

interface Bird {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly turn: number;
}

/** Returns birds along a wave. The golden ratio spreads them evenly, so they look irregular but never change. */
function band(): readonly Bird[] {
  const birds: Bird[] = [];
  for (let i = 0; i < BACKDROP_BIRDS; i += 1) {
    const along = (i + 0.5) / BACKDROP_BIRDS;
    const scatter = (i * 0.618034) % 1;
    const wave = 74 - 16 * along + 16 * Math.sin(along * 6.4 - 0.6);
    const spread = 22 + 52 * along;
    birds.push({
      x: Math.round(20 + along * (BACKDROP_WIDTH - 40)),
      y: Math.round(wave + (scatter - 0.5) * spread),
      size: Math.round((0.55 + 0.75 * along * (0.6 + 0.4 * ((i * 0.382) % 1))) * 100) / 100,
      turn: Math.round(-14 + 16 * Math.sin(along * 6.4 + scatter)),
    });
  }
  return birds;
}

const BAND = band();

export function FlockBackdrop() {
  return (
    <svg
      class="backdrop"
      viewBox={`0 0 ${BACKDROP_WIDTH} ${BACKDROP_HEIGHT}`}
      preserveAspectRatio="xMaxYMin meet"
      aria-hidden="true"
      focusable="false"
    >
      {BAND.map(({ x, y, size, turn }) => (
        <path
          key={`${x}.${y}`}
          d={BIRD}
          transform={`translate(${x} ${y}) rotate(${turn}) scale(${size})`}
        />
      ))}
    </svg>
  );
}
