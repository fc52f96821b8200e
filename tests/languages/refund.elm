module Shop exposing (..)

-- é🙂


refund : Int -> Bool
refund amount =
    let
        check v =
            v > 0
    in
    check amount


type State
    = Open
    | Closed


type alias Order =
    { id : String }


port ring : String -> Cmd msg
