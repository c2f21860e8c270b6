import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { show } from "../address/history";
import { viewOf } from "../address/view";
import { pin } from "../api/pins";
import { Failure, Loading } from "../parts/Messages";

/** Leads to the view whose address is kept under an id. It can be no other address than one of this page. */
export default function OpenPin({ id }: { id: string }) {
    const { data, error, refetch } = useQuery(pin(id));
    useEffect(() => {
        if (!data) return;
        const [path = "", query = ""] = data.address.split(/\?(.*)/s);
        show(viewOf(path, query), { replace: true });
    }, [data]);
    return error ? <Failure problem={error} retry={() => void refetch()} /> : <Loading />;
}
