import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  MeterProvider,
  type MetricProducer,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { MetricValues, SpanOptions } from '../service/index.ts';
import { toMetricData } from './metric-data.ts';
import type { RunningTelemetry, TelemetryOptions } from './running-telemetry.ts';
import type { TelemetrySettings } from './settings.ts';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const SCOPE = 'placard';
/** Timeout of the last export, because an unreachable collector must not delay the exit of the process. */
const STOP_MS = 2_000;

const getErrorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Creates the exporters, which read `OTEL_EXPORTER_OTLP_…`. The span processor reads `OTEL_BSP_…`, the tracer
 * `OTEL_TRACES_SAMPLER`.
 */
export const createOpenTelemetry = (
  { traces, metrics, exportIntervalMs }: TelemetrySettings,
  { version, log }: TelemetryOptions,
): RunningTelemetry => {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': SCOPE, 'service.version': version }))
    .merge(detectResources({ detectors: [envDetector] }));
  const contextManager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contextManager);
  const propagator = new W3CTraceContextPropagator();
  setGlobalErrorHandler((error) => log.warn({ problem: getErrorMessage(error) }, 'telemetry export failed'));

  const tracers = new BasicTracerProvider({
    resource,
    spanProcessors: traces ? [new BatchSpanProcessor(new OTLPTraceExporter())] : [],
  });
  const tracer = tracers.getTracer(SCOPE, version);

  let collect: () => Promise<readonly MetricValues[]> = async () => [];
  const startedMs = Date.now();
  const producer: MetricProducer = {
    collect: async () => ({
      resourceMetrics: {
        resource,
        scopeMetrics: [
          { scope: { name: SCOPE, version }, metrics: toMetricData(await collect(), startedMs, Date.now()) },
        ],
      },
      errors: [],
    }),
  };
  const meters = metrics
    ? new MeterProvider({
        resource,
        readers: [
          new PeriodicExportingMetricReader({
            exporter: new OTLPMetricExporter(),
            exportIntervalMillis: exportIntervalMs,
            exportTimeoutMillis: Math.min(exportIntervalMs, 30_000),
            metricProducers: [producer],
          }),
        ],
      })
    : null;

  return {
    async span<T>(name: string, options: SpanOptions<T>, run: () => Promise<T>): Promise<T> {
      if (!traces) return run();
      const { kind, attributes = {}, header, startMs, describe } = options;
      const parent = header
        ? propagator.extract(ROOT_CONTEXT, header, { get: (read, key) => read(key), keys: () => [] })
        : context.active();
      const span = tracer.startSpan(
        name,
        {
          kind: KINDS[kind],
          attributes: { ...attributes },
          ...(startMs !== undefined && { startTime: startMs }),
        },
        parent,
      );
      try {
        const result = await context.with(trace.setSpan(parent, span), run);
        const { name: better, attributes: more = {}, isError = false } = describe?.(result) ?? {};
        if (better !== undefined) span.updateName(better);
        span.setAttributes({ ...more });
        if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
        return result;
      } catch (error) {
        // Omits the message, which may contain user data.
        span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },

    addSpan(name, startMs, endMs) {
      if (traces) tracer.startSpan(name, { startTime: startMs }, context.active()).end(endMs);
    },

    exportMetrics(read) {
      collect = read;
    },

    async stop() {
      const stopping = Promise.allSettled([tracers.shutdown(), meters?.shutdown()]);
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise((resolve) => {
        timer = setTimeout(resolve, STOP_MS);
      });
      await Promise.race([stopping, timeout]);
      clearTimeout(timer);
      context.disable();
    },
  };
};
