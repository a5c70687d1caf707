import type { HrTime } from '@opentelemetry/api';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import type { MetricValues } from '../service/index.ts';

type Labels = MetricValues['values'][number]['labels'];

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];

const toAttributes = ({ le: _, ...labels }: Labels): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));

interface Points {
  attributes: Record<string, string>;
  /** Cumulative counts by upper bound. */
  buckets: { bound: number; count: number }[];
  sum: number;
  count: number;
}

/** Converts the cumulative buckets of Prometheus into the counts of OTLP. */
const toHistograms = ({ name, values }: MetricValues) => {
  const series = new Map<string, Points>();
  for (const { value, labels, metricName } of values) {
    const attributes = toAttributes(labels);
    const key = JSON.stringify(Object.entries(attributes).sort());
    const points = series.get(key) ?? { attributes, buckets: [], sum: 0, count: 0 };
    series.set(key, points);
    if (metricName === `${name}_sum`) points.sum = value;
    else if (metricName === `${name}_count`) points.count = value;
    else
      points.buckets.push({ bound: Number(String(labels['le']).replace('+Inf', 'Infinity')), count: value });
  }
  return [...series.values()].map(({ attributes, buckets, sum, count }) => {
    const sorted = buckets.sort((one, other) => one.bound - other.bound);
    return {
      attributes,
      value: {
        buckets: {
          boundaries: sorted.map(({ bound }) => bound).filter(Number.isFinite),
          counts: sorted.map((bucket, index) => bucket.count - (sorted[index - 1]?.count ?? 0)),
        },
        sum,
        count,
      },
    };
  });
};

/** Converts metrics of prom-client to OpenTelemetry. Excludes summaries, which the service does not use. */
export const toMetricData = (
  metrics: readonly MetricValues[],
  startMs: number,
  endMs: number,
): MetricData[] => {
  const times = { startTime: hrTime(startMs), endTime: hrTime(endMs) };
  return metrics.flatMap((metric): MetricData[] => {
    const { name, help, type, values } = metric;
    const common = {
      descriptor: { name, description: help, unit: name.endsWith('_seconds') ? 's' : '', valueType: 1 },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    };
    if (type === 'histogram') {
      const dataPoints = toHistograms(metric).map((point) => ({ ...times, ...point }));
      return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
    }
    const dataPoints = values.map(({ value, labels }) => ({
      ...times,
      attributes: toAttributes(labels),
      value,
    }));
    if (type === 'gauge') return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }];
    return type === 'counter'
      ? [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
      : [];
  });
};
