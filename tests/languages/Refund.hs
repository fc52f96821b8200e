{-# LANGUAGE GADTs #-}
module Refund where

-- é🙂
refund :: Int -> Bool
refund 0 = False
refund amount = check amount
  where
    check v = v > 0

data State = Open | Closed

newtype Amount = Amount Int

type Name = String

class Load a where
  load :: a -> IO ()

instance Load State where
  load _ = pure ()

twice :: Int -> Int
twice x = x * 2
