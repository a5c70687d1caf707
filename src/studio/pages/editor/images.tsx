import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { TemplateEntry } from '../../../templates/index.ts';
import { formatBytes, IMAGE_ACCEPT, IMAGE_KINDS, MAX_IMAGE_BYTES } from '../../campaign/image-rules.ts';
import type { ImageRow, ImagesResponse } from '../../server/routes/images.ts';
import { ActionError, call } from '../call.ts';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { Late, Resource, useAction } from '../components/loading.tsx';
import { announce, Empty } from '../components/notices.tsx';
import { type Area, decodeImage, encodeImage } from './encode-image.ts';
import { getPlacementTemplates } from './placement-templates.ts';
import './blocks.css';

/** Returns the content of a file in Base64. */
const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    // The result is a data URL, such as `data:image/png;base64,…`.
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
    reader.onerror = () => reject(new ActionError(`“${file.name}” cannot be read.`));
    reader.readAsDataURL(file);
  });

const upload = async (file: File): Promise<ImageRow> =>
  call<ImageRow>('POST', '/api/images', {
    body: { name: file.name.slice(0, 200).toWellFormed(), base64: await base64Of(file) },
  });

const loadCrop = async () => (await import('./crop-dialog.tsx')).CropDialog;

/** Relative difference of aspect ratios up to which an image is not cropped before the upload. */
const RATIO_TOLERANCE = 0.05;

const isOfRatio = ({ width, height }: ImageBitmap, [across, down]: TemplateEntry['imageRatio']): boolean => {
  const relative = (width * down) / (height * across);
  return Math.max(relative, 1 / relative) <= 1 + RATIO_TOLERANCE;
};

interface ImageProps {
  image: ImageRow;
  onChoose(): void;
  onDeleted(): Promise<void>;
}

const Image = ({ image, onChoose, onDeleted }: ImageProps) => {
  const { hash, url, name, width, height, bytes } = image;
  return (
    <li class="image">
      <button type="button" class="stack tight image-choice" onClick={onChoose}>
        <img src={url} alt="" width={width} height={height} loading="lazy" />
        <bdi>{name}</bdi>
        <span class="muted">
          {width} × {height}, {formatBytes(bytes)}
        </span>
      </button>
      <DialogButton look="quiet" name="Delete" aria-label={`Delete ${name}`}>
        {(close) => (
          <Dialog
            title={`Delete “${name}”?`}
            onClose={close}
            action={{
              name: 'Delete',
              act: async () => {
                await call('DELETE', `/api/images/${hash}`);
                return `“${name}” is deleted.`;
              },
            }}
            onDone={onDeleted}
          >
            <p>
              It is deleted for everybody in this workspace. Sites stop showing it soon; browsers that have
              loaded it may keep it for a year. Former releases that show it stay without it.
            </p>
          </Dialog>
        )}
      </DialogButton>
    </li>
  );
};

interface LibraryProps extends Required<Pick<ImageButtonProps, 'placements' | 'onChoose'>> {
  library: ImagesResponse;
  onDeleted(): Promise<void>;
}

const Library = ({ library, placements, onChoose, onDeleted }: LibraryProps) => {
  const { images, problem, warning } = library;
  const id = useId();
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const cropped = useSignal<{ file: File; image: ImageBitmap } | null>(null);
  const add = async (file: File) => {
    const current = cropped.value;
    const { url, name } = await upload(file);
    // Ignores the image if a dialog was closed, because another variant may be open by now.
    const isWanted = isOpen.current && cropped.value === current;
    announce(`“${name}” is in the library${isWanted ? ', and in the message' : ''}.`);
    if (isWanted) onChoose(url);
  };
  const addPart = (file: File, image: ImageBitmap, area: Area) => {
    const isWhole = area.width >= image.width && area.height >= image.height;
    return isWhole && file.size <= MAX_IMAGE_BYTES ? add(file) : encodeImage(file, image, area).then(add);
  };
  const templates = getPlacementTemplates(placements) ?? [];
  const uploading = useAction(async (file: File) => {
    const image = await decodeImage(file);
    if (image === null) await add(file);
    else if (templates.every(({ imageRatio }) => isOfRatio(image, imageRatio)))
      await addPart(file, image, { x: 0, y: 0, width: image.width, height: image.height });
    else cropped.value = { file, image };
  });
  return (
    <>
      {problem === null ? (
        <div class="field">
          <label for={id}>Upload an image, or drop one here</label>
          <input
            id={id}
            type="file"
            class="image-file"
            accept={IMAGE_ACCEPT}
            aria-busy={uploading.isBusy.value}
            aria-invalid={uploading.problem.value !== null}
            aria-describedby={`${id}-help ${id}-problem`}
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              if (file) void uploading.run(file);
              // Resets the input, so that selecting the same file fires `change` again.
              event.currentTarget.value = '';
            }}
          />
          <p class="field-help" id={`${id}-help`}>
            At most 12 MB: {IMAGE_KINDS}. Over 1 MB it is scaled down. Images are public at their URL.
          </p>
          <p class="field-problem" id={`${id}-problem`} role="alert">
            {uploading.problem.value}
          </p>
        </div>
      ) : (
        <p class="field-warning">{problem}</p>
      )}
      {warning !== null && <p class="field-warning">{warning}</p>}
      {cropped.value && (
        <Late load={loadCrop}>
          {(Crop) => {
            const { file, image } = cropped.value!;
            return (
              <Crop
                image={image}
                templates={templates}
                onCrop={(area) => addPart(file, image, area)}
                onClose={() => {
                  cropped.value = null;
                }}
              />
            );
          }}
        </Late>
      )}
      {images.length === 0 ? (
        problem === null && <Empty title="No image yet" />
      ) : (
        <ul class="images">
          {images.map((image) => (
            <Image
              key={image.hash}
              image={image}
              onChoose={() => onChoose(image.url)}
              onDeleted={onDeleted}
            />
          ))}
        </ul>
      )}
    </>
  );
};

interface ImageButtonProps {
  /** Label of the image field. */
  label: string;
  /** Placements whose templates determine the shape of uploaded images. Default: none. */
  placements?: readonly string[];
  /** Called with the URL of the chosen or uploaded image. */
  onChoose(url: string): void;
}

/** Button that opens the image library, to choose, upload or delete images. */
export const ImageButton = ({ label, placements = [], onChoose }: ImageButtonProps) => (
  <DialogButton look="link" name="Choose or upload…" aria-label={`Choose or upload an image for ${label}`}>
    {(close) => (
      <ImageDialog
        placements={placements}
        onClose={close}
        onChoose={(url) => {
          onChoose(url);
          close();
        }}
      />
    )}
  </DialogButton>
);

const ImageDialog = ({
  onClose,
  ...choice
}: Omit<LibraryProps, 'library' | 'onDeleted'> & { onClose(): void }) => (
  <Dialog title="Images" onClose={onClose} closeName="Close" isWide>
    <Resource<ImagesResponse> path="/api/images">
      {(library, again) => <Library {...choice} library={library} onDeleted={again} />}
    </Resource>
  </Dialog>
);
