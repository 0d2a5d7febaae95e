/** Bounds on the size and duration of requests, each with its reason. docs/http.md shows them. */
export const limits = {
  /**
   * Request line and headers together, in bytes; beyond it Node answers 431. A valid needle of 1,000 characters takes
   * up to 12,000 bytes in a URL (four UTF-8 bytes, three characters each), so Node's own 16 KiB is too little.
   */
  headerBytes: 64 * 1024,
  /** A URL, in bytes: two needles of the largest size, and room for additions of proxies and clients. */
  urlBytes: 32 * 1024,
  /** A body: 10,000 hashes of 64 digits as JSON take 670 kB. A route that takes more names one of `bodyLimits`. */
  bodyBytes: 1024 * 1024,
  /** Larger bodies are bounded together, and parsed in a thread: 1 MiB takes the event loop 5 to 10 ms. */
  largeBodyBytes: 1024 * 1024,
  /** All large bodies that are being read, parsed or answered: two of the largest, and some smaller ones. */
  largeBodiesBytes: 256_000_000,
  /** Hashes in one request. */
  hashes: 10_000,
  /** Milliseconds until the headers are complete, and until the whole request is, however large. */
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 600_000,
  /**
   * After this time a body must have arrived at this average rate (bytes per second). A body that is not large must
   * then be complete: 1 MiB takes less than 30 s at this rate.
   */
  bodyPatienceMs: 30_000,
  bodyRate: 64_000,
  /** Milliseconds of silence on a connection, also of a slow reader. */
  idleTimeoutMs: 60_000,
  /** Concurrent connections; each can hold a body in memory. Further ones are closed at once. */
  connections: 1_000,
  /**
   * Concurrent streams of events. Each holds one page in memory, usually 1 MB, and reads every block itself: a block
   * of 5,000 events costs some 10 ms a stream.
   */
  eventStreams: 100,
  /**
   * Longer than the 60 s of common load balancers, so that they close first and never send a request to a closed
   * socket.
   */
  keepAliveTimeoutMs: 72_000,
  /**
   * The mean delay of the event loop over a sample. One turn takes milliseconds; the 99th percentile during a first
   * sync is 50 ms. At a mean of one second each request waits for several seconds, and accepting more makes it worse.
   * The sample is long, so that a single long turn (start, garbage collection, a busy machine) does not count.
   */
  eventLoopDelayMs: 1_000,
  eventLoopSampleMs: 5_000,
  /** A parameter in a path: a needle in `/search/<query>`. */
  pathParameterChars: 4_000,
} as const;

/** Sizes of bodies in bytes, for routes that take more than `limits.bodyBytes`. */
export const bodyLimits = {
  /** ord accepts posted JSON up to 32 MiB (server.rs): 460,000 ids. */
  batch: 32 * 1024 * 1024,
  /** A collection with its phases and their allow lists. */
  collection: 8_000_000,
  /** Orders: files of 50 MB in all, which are 67 MB as base64, and their fields. */
  order: 100_000_000,
} as const;
