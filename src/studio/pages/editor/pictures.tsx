import { useEffect, useId, useRef } from 'preact/hooks';
import {
  formatBytes,
  MAX_PICTURE_BYTES,
  PICTURE_ACCEPT,
  PICTURE_KINDS,
} from '../../campaign/picture-rules.ts';
import type { ImagesResponse, PictureRow } from '../../server/routes/pictures.ts';
import { call, Refused } from '../call.ts';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { LoadView, useAction, useLoad } from '../components/loading.tsx';
import { announce, Empty } from '../components/notices.tsx';
import './blocks.css';

/** The bytes of a file in Base64. */
const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    // It reads `data:image/png;base64,…`.
    reader.onload = () => resolve(String(reader.result).split(',', 2)[1] ?? '');
    reader.onerror = () => reject(new Refused(`“${file.name}” cannot be read.`));
    reader.readAsDataURL(file);
  });

const upload = async (file: File): Promise<PictureRow> => {
  if (file.size > MAX_PICTURE_BYTES) {
    throw new Refused(
      `“${file.name}” has ${formatBytes(file.size)}, and a picture may have at most 1 MB. Make it smaller, or save it as WebP.`,
    );
  }
  return call<PictureRow>('POST', '/api/pictures', {
    body: { name: file.name.slice(0, 200).toWellFormed(), base64: await base64Of(file) },
  });
};

interface PictureProps {
  picture: PictureRow;
  onChoose(): void;
  onDeleted(): Promise<void>;
}

const Picture = ({ picture, onChoose, onDeleted }: PictureProps) => {
  const { hash, url, name, width, height, bytes } = picture;
  return (
    <li class="picture">
      <button type="button" class="picture-choice" onClick={onChoose}>
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
            closeName="Keep it"
            action={{
              name: 'Delete',
              act: async () => {
                await call('DELETE', `/api/pictures/${hash}`);
                announce(`“${name}” is deleted.`);
                close();
                await onDeleted();
              },
            }}
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

interface LibraryProps {
  library: ImagesResponse;
  onChoose(url: string): void;
  onDeleted(): Promise<void>;
}

const Library = ({ library: { pictures, problem, warning }, onChoose, onDeleted }: LibraryProps) => {
  const id = useId();
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const uploading = useAction(async (file: File) => {
    const { url, name } = await upload(file);
    announce(`“${name}” is in the library${isOpen.current ? ', and in the message' : ''}.`);
    // Who has closed the dialog meanwhile may be at another variant.
    if (isOpen.current) onChoose(url);
  });
  return (
    <>
      {problem === null ? (
        <div class="field">
          <label for={id}>Upload a picture, or drop one here</label>
          <input
            id={id}
            type="file"
            class="picture-file"
            accept={PICTURE_ACCEPT}
            aria-busy={uploading.isBusy.value}
            aria-invalid={uploading.problem.value !== null}
            aria-describedby={`${id}-help ${id}-problem`}
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              if (file) void uploading.run(file);
              // The same file may be chosen again.
              event.currentTarget.value = '';
            }}
          />
          <p class="field-help" id={`${id}-help`}>
            At most 1 MB: {PICTURE_KINDS}. Everybody who has its address can see it.
          </p>
          <p class="field-problem" id={`${id}-problem`} role="alert">
            {uploading.problem.value}
          </p>
        </div>
      ) : (
        <p class="field-warning">{problem}</p>
      )}
      {warning !== null && <p class="field-warning">{warning}</p>}
      {pictures.length === 0 ? (
        problem === null && <Empty title="No picture yet" />
      ) : (
        <ul class="pictures">
          {pictures.map((picture) => (
            <Picture
              key={picture.hash}
              picture={picture}
              onChoose={() => onChoose(picture.url)}
              onDeleted={onDeleted}
            />
          ))}
        </ul>
      )}
    </>
  );
};

interface PictureButtonProps {
  /** What the picture is for. */
  label: string;
  /** Gets the address of the picture that was chosen or uploaded. */
  onChoose(url: string): void;
}

/** Opens the pictures of the workspace: to choose one, to add one, to delete one. */
export const PictureButton = ({ label, onChoose }: PictureButtonProps) => (
  <DialogButton look="link" name="Choose or upload …" aria-label={`Choose or upload a picture for ${label}`}>
    {(close) => (
      <PictureDialog
        onClose={close}
        onChoose={(url) => {
          onChoose(url);
          close();
        }}
      />
    )}
  </DialogButton>
);

const PictureDialog = ({ onClose, onChoose }: { onClose(): void; onChoose(url: string): void }) => {
  const { loaded, again } = useLoad(() => call<ImagesResponse>('GET', '/api/pictures'), 'pictures');
  return (
    <Dialog title="Pictures" onClose={onClose} closeName="Close" isWide>
      <LoadView loaded={loaded} again={again}>
        {(library) => <Library library={library} onChoose={onChoose} onDeleted={again} />}
      </LoadView>
    </Dialog>
  );
};
