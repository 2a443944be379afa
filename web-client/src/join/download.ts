// What a first visit downloads after the tap. Pure data.

/**
 * The bytes that the network moves for Python and NumPy: less by Brotli, which browsers take over HTTPS, and more by
 * gzip. `come_back.test.ts` measures that this is within 10 % of both.
 */
export const FIRST_VISIT_BYTES = 8_100_000;
