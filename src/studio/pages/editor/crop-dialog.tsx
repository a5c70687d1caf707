import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { TemplateEntry } from '../../../templates/index.ts';
import { formatNumber } from '../../campaign/format-number.ts';
import { into, Segments } from '../components/controls.tsx';
import { Dialog } from '../components/dialog.tsx';
import type { Area } from './encode-image.ts';

type Size = Pick<Area, 'width' | 'height'>;
type Point = Pick<Area, 'x' | 'y'>;

const MAX_ZOOM = 4;
/** Width of the canvas in pixels, for screens with two pixels per CSS pixel. */
const CANVAS_WIDTH = 960;
/** Movement by an arrow key, as a share of the cropped area. */
const STEP = 0.05;
const ARROWS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -STEP, y: 0 },
  ArrowRight: { x: STEP, y: 0 },
  ArrowUp: { x: 0, y: -STEP },
  ArrowDown: { x: 0, y: STEP },
};

/** Returns the area of an aspect ratio around a point, moved so that it is within the image. */
const toArea = (image: Size, ratio: number, zoom: number, center: Point): Area => {
  const width = Math.min(image.width, image.height * ratio) / zoom;
  const height = width / ratio;
  const within = (middle: number, length: number, whole: number) =>
    Math.max(0, Math.min(middle - length / 2, whole - length));
  return {
    x: within(center.x, width, image.width),
    y: within(center.y, height, image.height),
    width,
    height,
  };
};

const getCenter = ({ x, y, width, height }: Area): Point => ({ x: x + width / 2, y: y + height / 2 });

interface CropDialogProps {
  image: ImageBitmap;
  /** Templates whose aspect ratios are offered, the first one as default. */
  templates: readonly TemplateEntry[];
  onCrop(area: Area): Promise<void>;
  onClose(): void;
}

/** Dialog to crop an image to the aspect ratio of a template. */
export const CropDialog = ({ image, templates, onCrop, onClose }: CropDialogProps) => {
  const shapes = [
    ...templates
      .map(({ label, imageRatio }) => ({ value: imageRatio.join(':'), ratio: imageRatio, label }))
      .filter(({ value }, index, all) => all.findIndex((each) => each.value === value) === index),
    { value: '', ratio: [image.width, image.height] as const, label: 'Original' },
  ];
  const shape = useSignal(shapes[0]!.value);
  const zoom = useSignal(1);
  const center = useSignal(getCenter({ x: 0, y: 0, width: image.width, height: image.height }));
  const canvas = useRef<HTMLCanvasElement>(null);
  /** Last position of the pointer. A click without dragging centers the area on it. */
  const pointer = useRef({ x: 0, y: 0, isDragging: false });
  const id = useId();
  const [across, down] = shapes.find(({ value }) => value === shape.value)!.ratio;
  const area = toArea(image, across / down, zoom.value, center.value);
  const { x, y, width, height } = area;
  useLayoutEffect(() => {
    const { current } = canvas;
    const context = current!.getContext('2d')!;
    context.clearRect(0, 0, current!.width, current!.height);
    context.drawImage(image, x, y, width, height, 0, 0, current!.width, current!.height);
  }, [image, x, y, width, height]);
  /** Moves the area by a share of its size. */
  const move = (by: Point) => {
    const moved = { ...area, x: x + by.x * width, y: y + by.y * height };
    center.value = getCenter(toArea(image, across / down, zoom.value, getCenter(moved)));
  };
  return (
    <Dialog
      title="Crop image"
      onClose={onClose}
      action={{ name: shape.value === '' ? 'Upload' : 'Crop and upload', act: () => onCrop(area) }}
    >
      <Segments
        label="Shape"
        options={shapes.map(({ value, label }) => ({ value, name: `${label} ${value}`.trim() }))}
        chosen={shape.value}
        onChoose={into(shape)}
      />
      <div class="field">
        <div
          class="crop"
          role="application"
          aria-label="Cropped area"
          aria-describedby={`${id}-help`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move the area
          tabIndex={0}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            pointer.current = { x: event.clientX, y: event.clientY, isDragging: false };
          }}
          onPointerMove={({ currentTarget: element, pointerId, clientX, clientY }) => {
            const { x: fromX, y: fromY } = pointer.current;
            if (!element.hasPointerCapture(pointerId) || (fromX === clientX && fromY === clientY)) return;
            pointer.current = { x: clientX, y: clientY, isDragging: true };
            move({ x: (fromX - clientX) / element.clientWidth, y: (fromY - clientY) / element.clientHeight });
          }}
          onPointerUp={({ currentTarget: element, offsetX, offsetY }) => {
            if (pointer.current.isDragging) return;
            move({ x: offsetX / element.clientWidth - 0.5, y: offsetY / element.clientHeight - 0.5 });
          }}
          onKeyDown={(event) => {
            const by = ARROWS[event.key];
            if (!by) return;
            event.preventDefault();
            move(by);
          }}
        >
          <canvas ref={canvas} width={CANVAS_WIDTH} height={Math.round((CANVAS_WIDTH * down) / across)} />
        </div>
        <p class="field-help" id={`${id}-help`}>
          Drag, click the new center, or use the arrow keys.
        </p>
      </div>
      <div class="field">
        <label for={id}>Zoom</label>
        <input
          id={id}
          type="range"
          min={1}
          max={MAX_ZOOM}
          step={0.05}
          value={zoom.value}
          onInput={(event) => into(zoom)(event.currentTarget.valueAsNumber)}
        />
      </div>
      <p class="field-help" role="status">
        {formatNumber(Math.round(width))} × {formatNumber(Math.round(height))} pixels
      </p>
    </Dialog>
  );
};
