// The jobs for the load program (the folder load) and its results, in their JSON form: one document each. Its own
// job.go explains every field.

export type Protocol = 'http' | 'grpc';
export type Product = 'grantd' | 'echo' | 'openfga' | 'spicedb';
export type Operation = 'load' | 'check' | 'batch' | 'list' | 'subjects' | 'write';
/**
 * What a model decides. `ruled`: what follows from rules, through groups and folders. `gated`: through "and" and
 * "but not". `conditional`: grants with a condition, and checks with the values of its parameters.
 */
export const MODEL_SHAPES = ['ruled', 'gated', 'conditional'] as const;
export type ModelShape = (typeof MODEL_SHAPES)[number];
/**
 * `wide`: subjects with ten objects, and a hundred subjects on each object. `deep`: a thousand objects, and two
 * subjects.
 */
export type Shape = 'wide' | 'deep' | ModelShape;

export const isModelShape = (shape: Shape | undefined): shape is ModelShape =>
  MODEL_SHAPES.some((each) => each === shape);

/** Where a system is reached, and what requests to it must carry. */
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
  readonly randomGaps?: boolean;
  readonly seed?: number;
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
  /** In the mode `rate` only. */
  readonly arrivals?: Arrivals;
}

/** What became of the requests that were due during the measurement. The package load/arrivals defines each field. */
export interface Arrivals {
  readonly due: number;
  readonly right: number;
  readonly onTime: number;
  readonly waited: number;
  readonly isBorne: boolean;
  readonly isPunctual: boolean;
  readonly p999Ms: number;
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
  readonly growthMs: number;
}
