import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { FrameProblem, FrameReport, FrameRequest } from './frame.ts';
import './preview.css';

interface DeviceProps {
  /** Width of the framed page, in CSS pixels. */
  width: number;
  request: FrameRequest;
  onDrawn(problems: FrameProblem[]): void;
}

/**
 * Frame with a real viewport width, scaled down until the whole banner fits. Only the stylesheet determines its size, because
 * content below would shift under the pointer if the frame followed the size of the banner.
 */
export const Device = ({ width, request, onDrawn }: DeviceProps) => {
  const glass = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  const room = useSignal({ width: 0, height: 0 });
  /** Height of the page down to the end of the banner. */
  const needed = useSignal(0);
  const isReady = useSignal(false);
  const text = JSON.stringify(request);

  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => {
      room.value = entry!.contentRect;
    });
    if (glass.current) watcher.observe(glass.current);
    return () => watcher.disconnect();
  }, [room]);

  useEffect(() => {
    const hear = ({ source, data }: MessageEvent<FrameReport>) => {
      if (source !== frame.current?.contentWindow) return;
      if (data.type === 'placard:preview-ready') isReady.value = true;
      if (data.type === 'placard:preview-drawn') {
        needed.value = data.height;
        onDrawn(data.problems);
      }
    };
    addEventListener('message', hear);
    return () => removeEventListener('message', hear);
  }, [onDrawn, isReady, needed]);

  useEffect(() => {
    if (isReady.value) frame.current?.contentWindow?.postMessage(JSON.parse(text), location.origin);
  }, [text, isReady.value]);

  const { width: across, height: down } = room.value;
  const scale = across === 0 ? 1 : Math.min(1, across / width, down / Math.max(1, needed.value));
  return (
    <div class="glass" ref={glass}>
      <iframe
        ref={frame}
        src="/preview.html"
        title={`The banner on a page ${width} pixels wide`}
        tabIndex={-1}
        style={{ inlineSize: `${width}px`, blockSize: `${down / scale}px`, scale: String(scale) }}
      />
    </div>
  );
};
