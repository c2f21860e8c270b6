import { useEffect, useState } from "react";

/** The time now in milliseconds, as it was at most this many seconds ago. */
export function useNow(seconds = 15): number {
    const [now, setNow] = useState(() => Date.now());
    useEffect(() => {
        const timer = setInterval(() => setNow(Date.now()), seconds * 1000);
        return () => clearInterval(timer);
    }, [seconds]);
    return now;
}
