/** Bounds of what a client may send and how long it may take. Each stands here with its reason; docs/http.md shows them. */
export const limits = {
  /**
   * Request line and headers together, in bytes; beyond it Node answers 431. A legal needle of 1,000 characters takes up to
   * 12,000 bytes in a URL (four UTF-8 bytes, three characters each), so Node's own 16 KiB is too little.
   */
  headerBytes: 64 * 1024,
  /** A URL, in bytes: two needles of the largest size, and room for what proxies and clients add. */
  urlBytes: 32 * 1024,
  /** A body: 10,000 hashes of 64 digits as JSON take 670 kB. */
  bodyBytes: 1024 * 1024,
  /** Hashes in one question. */
  hashes: 10_000,
  /** Milliseconds until the headers are here; and until the whole request is. */
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 30_000,
  /** A connection on which nothing moves, a slow reader of an answer too. */
  idleTimeoutMs: 60_000,
  /** Connections at once; each can hold a body in memory. More are closed as they come. */
  connections: 1_000,
  /**
   * Streams of events at once. Each holds one page in memory, 1 MB as a rule, and reads every block by itself: a block of
   * 5,000 events costs some 10 ms a stream.
   */
  eventStreams: 100,
  /** Longer than the 60 s of common load balancers, so that they close first and no request meets a closed socket. */
  keepAliveTimeoutMs: 72_000,
  /**
   * Mean delay of the event loop over a sample. A turn takes milliseconds, and 50 at the 99th percentile during a first sync. At a
   * second each request waits for several seconds, and more of them only make it worse. The sample is long, so that one long turn
   * (a start, a collection of garbage, a machine that is busy otherwise) does not count.
   */
  eventLoopDelayMs: 1_000,
  eventLoopSampleMs: 5_000,
  /** A parameter in a path: a needle in `/search/<query>`. */
  pathParameterChars: 4_000,
} as const;
