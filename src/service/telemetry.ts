/** Metric in prom-client's format. */
export interface MetricValues {
  name: string;
  help: string;
  type: unknown;
  values: readonly {
    value: number;
    labels: Readonly<Record<string, string | number | undefined>>;
    metricName?: string;
  }[];
}

export interface SpanOptions<T> {
  kind: 'server' | 'client' | 'internal';
  attributes?: Readonly<Record<string, string | number>>;
  /** Reads a request header, to continue the trace of the client. */
  header?: (name: string) => string | undefined;
  /** Start in Unix milliseconds. Default: now. */
  startMs?: number;
  /** Returns the name and attributes that depend on the result. `isError` marks the span as failed. */
  describe?: (result: T) => {
    name?: string;
    attributes?: Readonly<Record<string, string | number>>;
    isError?: boolean;
  };
}

/** Exports traces of requests and metrics of the service. */
export interface Telemetry {
  /** Runs `run` in a span. Spans that it starts become children. An error ends the span and is rethrown. */
  span<T>(name: string, options: SpanOptions<T>, run: () => Promise<T>): Promise<T>;
  /** Adds a finished span as a child of the current one. Times are Unix milliseconds. */
  addSpan(name: string, startMs: number, endMs: number): void;
  /** Exports these metrics periodically. */
  exportMetrics(collect: () => Promise<readonly MetricValues[]>): void;
}

export const noTelemetry: Telemetry = {
  span: (_name, _options, run) => run(),
  addSpan: () => undefined,
  exportMetrics: () => undefined,
};
