/** Bounds on the size and duration of requests, each with its reason. docs/http.md shows them. */
export const limits = {
  /**
   * Request line and headers together, in bytes; beyond it Node answers 431. A valid needle of 1,000 characters takes
   * up to 12,000 bytes in a URL (four UTF-8 bytes, three characters each), so Node's own 16 KiB is too little.
   */
  headerBytes: 64 * 1024,
  /** A URL, in bytes: two needles of the largest size, and room for additions of proxies and clients. */
  urlBytes: 32 * 1024,
  /**
   * A header that is a list (`accept`, `if-none-match`, and others); a longer one counts as not sent. Browsers send 150
   * bytes, and a cache names a few entity tags of 33; 60 kB of commas take the event loop 10 ms wherever one is read.
   */
  listHeaderChars: 1024,
  /** Parameters of a query. No path has more than 30, and 5,000 take the event loop 2 ms. */
  queryParameters: 100,
  /** A body: 10,000 hashes of 64 digits as JSON take 670 kB. A route that takes more names one of `bodyLimits`. */
  bodyBytes: 1024 * 1024,
  /** Larger bodies need a place, and a thread parses them: 1 MiB takes the event loop 5 to 10 ms. */
  largeBodyBytes: 1024 * 1024,
  /** Of one client: a program sends the next list while the answer to the one before arrives. */
  largeBodiesEach: 2,
  /** Of all clients. Each holds a connection and looks up thousands of rows. */
  largeBodies: 32,
  /** What every body may hold without room: 64 MB for all connections. Most bodies are far smaller. */
  freeBodyBytes: 64 * 1024,
  /**
   * What all bodies hold that are being read, parsed or answered, and those of one client: the largest one. Beside
   * them the thread holds four times the body that it parses. Three orders of 50 MB, which are 67 MB as base64, fit: a
   * fourth took the process above 900 MB.
   */
  bodyRoom: { totalBytes: 210_000_000, eachBytes: 100_000_000 },
  /** Hashes in one request. */
  hashes: 10_000,
  /** Milliseconds until the headers are complete, and until the whole request is, however large. */
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 600_000,
  /** How often these are looked for: with Node's 30 s, headers could take 45 s. Each look walks the open requests. */
  connectionsCheckMs: 5_000,
  /**
   * After this time a body must have arrived at this average rate (bytes per second). A body that is not large must
   * then be complete: 1 MiB takes less than 30 s at this rate.
   */
  bodyPatienceMs: 30_000,
  bodyRate: 64_000,
  /** Milliseconds of silence on a connection, also of a slow reader. */
  idleTimeoutMs: 60_000,
  /** Concurrent connections; each can hold a body in memory. CONNECTIONS sets another number. */
  connections: 1_000,
  /**
   * Of one address: some thirty browsers behind it, with six connections each. Five addresses take all places, and
   * then their idle connections give way. CONNECTIONS_PER_ADDRESS sets another number.
   */
  connectionsEach: 200,
  /** Connections that Node still counts while they are being closed, which takes a turn of the event loop. */
  connectionsClosing: 100,
  /**
   * Requests that are being answered, of all clients. Ten connections to the database serve them, four those for
   * contents, and one event loop: more would only hold memory while they wait for each other.
   */
  requests: 32,
  /** Of one client, so that two connections to the database are left for others: each takes one at a time. */
  requestsEach: 8,
  /**
   * Of these, dear ones (each takes the event loop or the database tens of milliseconds) while others ask too: with
   * two, one is made while the other waits for the database.
   */
  dearRequestsBesideOthers: 2,
  /**
   * How many times as long as it took a further piece of a long content, a stream or an export rests while others ask
   * too: pieces one after another would take all of the event loop and of a core of the database.
   */
  restsBesideOthers: 3,
  /**
   * Requests that begin in one turn of the event loop, each with half a millisecond of work: the 200 connections of one
   * address may all ask at once.
   */
  requestsATurn: 4,
  /** Requests that wait for this: each connection has one at most. */
  requestsWaiting: 1_000,
  /**
   * The longest wait for a place, as long as a statement may take: a client of many requests at once waits for itself.
   * A dear request waits for two places, one after the other, so for twice as long at most.
   */
  requestWaitMs: 30_000,
  /**
   * Bytes of answers that their clients have not taken, of all clients: an eighth of a heap of 1 GB. UNSENT_MEGABYTES
   * sets another number.
   */
  unsentBytes: 128_000_000,
  /** Of one client: two of the largest answers. Four clients take all room. */
  unsentBytesEach: 32_000_000,
  /**
   * Smaller answers do not count: there is one at most for each connection, so 32 MB together. The operating system
   * takes most of them at once.
   */
  smallAnswerBytes: 32 * 1024,
  /**
   * Answers that are compressed at once while their clients take them, each with 0.9 MB of brotli's state: 58 MB. The
   * others are sent as they are.
   */
  compressedAnswers: 64,
  /** Of one client: two browsers with all their connections. Four clients take all places. */
  compressedAnswersEach: 16,
  /**
   * After this time a client must have taken bytes at this average rate (bytes per second). A slow mobile network has
   * 8 kB/s, and the operating system buffers some megabytes on top. An answer of 4 MB then takes eight minutes.
   */
  readPatienceMs: 30_000,
  readRate: 8_000,
  /** The same while unsent answers take more than half of their room. */
  pressedReadPatienceMs: 5_000,
  pressedReadRate: 64_000,
  /**
   * Concurrent streams of events. Each holds one page in memory, usually 1 MB, and reads every block itself: a block
   * of 5,000 events costs some 10 ms a stream.
   */
  eventStreams: 100,
  /** Of one client: a few programs behind one address. Five clients take all places. */
  eventStreamsEach: 20,
  /** Pages that learn what happens now. Each holds a connection; half of all connections are left for other requests. */
  liveStreams: 500,
  /** Live pages of one client: some thirty browsers that share an address, each with the page that it shows. */
  liveStreamsEach: 40,
  /**
   * Exports of sales that are being sent. Each holds where the sales are (12 MB for a million), and two parts of some
   * hundred kilobytes.
   */
  saleExports: 8,
  /** Of one client. Four clients take all places. */
  saleExportsEach: 2,
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

/** Those that Node's server takes. */
export const serverOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: limits.headersTimeoutMs,
  connectionsCheckingInterval: limits.connectionsCheckMs,
} as const;

/** Brackets, commas and colons of a body, and levels, which parsing and copying take recursively. */
export const bodyStructure = {
  /**
   * 10,000 hashes with what is around them. 4,000 objects that all differ take the event loop 5 ms, 100,000 a second.
   */
  small: { marks: 12_000, depth: 500 },
  /**
   * Of routes that take large bodies. If the parsed JSON outgrows the heap, V8 ends the process, not the thread: 100 MB
   * of brackets would take gigabytes. 10,000 files with all their fields are 400,000.
   */
  large: { marks: 1_000_000, depth: 500 },
} as const;

/** Sizes of bodies in bytes, for routes that take more or less than `limits.bodyBytes`. */
export const bodyLimits = {
  /** A key, and a path of 32 kB of which each byte is percent-encoded. */
  key: 128 * 1024,
  /** ord accepts posted JSON up to 32 MiB (server.rs): 460,000 ids. */
  batch: 32 * 1024 * 1024,
  /** A collection with its phases and their allow lists. */
  collection: 8_000_000,
  /** Two PSBTs of the largest size in hex (src/psbts/bytes/psbt-text.ts): most payments have two signers. */
  psbts: 4_200_000,
  /** Orders: files of 50 MB in all, which are 67 MB as base64, and their fields. */
  order: 100_000_000,
} as const;
