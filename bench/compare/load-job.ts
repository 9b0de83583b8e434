// What the load program (the folder load) is asked and what it answers, as it reads and writes them: one JSON document
// each. Its own job.go has the meaning of every field.

export type Protocol = 'http' | 'grpc';
export type Product = 'grantd' | 'echo' | 'openfga' | 'spicedb';
export type Operation = 'load' | 'check' | 'batch' | 'list' | 'write';
/** `wide`: subjects with ten objects, a hundred subjects on each object. `deep`: with a thousand, and two. */
export type Shape = 'wide' | 'deep';

/** Where a system is reached and what requests to it have to carry. */
export interface Access {
  readonly address: string;
  readonly key?: string;
  readonly tenant?: string;
  readonly store?: string;
  readonly model?: string;
  readonly revision?: string;
}

export interface LoadJob extends Access {
  readonly system: Product;
  readonly protocol: Protocol;
  readonly operation: Operation;
  readonly grants: number;
  readonly shape?: Shape;
  readonly perCall?: number;
  readonly start?: number;
  readonly mode: 'once' | 'saturate' | 'rate';
  readonly warmUpSeconds?: number;
  readonly seconds: number;
  readonly perSecond?: number;
  readonly workers: number;
  readonly processes: readonly number[];
}

export interface LoadResult {
  readonly asked: number;
  readonly answered: number;
  readonly seconds: number;
  readonly wrong: number;
  readonly firstWrong?: string;
  readonly failed: number;
  readonly firstFailed?: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly cpuSeconds: number;
  readonly loadCpuSeconds: number;
  readonly memoryBytes: number;
}
