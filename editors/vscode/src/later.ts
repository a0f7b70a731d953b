// Work that waits for a pause, and never overlaps itself.

export interface Later {
  (): void;
  cancel(): void;
}

/** A function that has the work done once, so many milliseconds after it was last called. */
export function later(pause: number, work: () => void | Promise<void>): Later {
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let isWanted = false;
  const run = async () => {
    timer = undefined;
    if (isRunning) {
      isWanted = true;
      return;
    }
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
      if (isWanted) {
        isWanted = false;
        void run();
      }
    }
  };
  const call = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), pause);
  };
  call.cancel = () => {
    clearTimeout(timer);
    isWanted = false;
  };
  return call;
}
